def sdf_text(model):
    raise NotImplementedError
