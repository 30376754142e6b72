"""What verbs are: their table, guards and programs, and the motion of the tree that programs are written on."""
