"""Valid files that mutators start from: small, and between them with every element that a reader knows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from appell.logs import text

_MASS = '<inertial><origin xyz="0 0 0.1" rpy="0 0.1 0"/><mass value="1.5"/><inertia ixx="0.1" ixy="0" ixz="0.01" iyy="0.1" iyz="0" izz="0.05"/></inertial>'
_AXIS = '<axis xyz="0 0 1"/>'

URDF = {
    "arm": f"""<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="upper">{_MASS}
    <visual><origin xyz="0 0 0.1"/><geometry><box size="0.1 0.1 0.3"/></geometry><material name="grey"/></visual>
    <collision><geometry><cylinder radius="0.1" length="0.3"/></geometry></collision></link>
  <link name="lower">{_MASS}</link>
  <link name="slide">{_MASS}</link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.5" rpy="0 1.5707963267948966 0"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0.1 0 0.3"/><axis xyz="0.6 0.8 0"/></joint>
  <joint name="rail" type="prismatic"><parent link="lower"/><child link="slide"/><origin xyz="0 0 0.3"/>{_AXIS}
    <limit lower="0" upper="1" effort="5" velocity="1"/><mimic joint="shoulder" multiplier="-0.5" offset="0.1"/></joint>
  <joint name="flange" type="fixed"><parent link="slide"/><child link="tool"/><origin xyz="0 0 0.1"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="shoulder"/>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
</robot>
""",
    "legs": f"""<robot name="legs"><link name="base"/><link name="prox1">{_MASS}</link><link name="distal1">{_MASS}</link>
<link name="prox2">{_MASS}</link><link name="distal2">{_MASS}</link><link name="tip"/><link name="end"/>
<joint name="mot1" type="continuous"><parent link="base"/><child link="prox1"/><origin xyz="-0.1 0 0" rpy="0 0 2.0"/>{_AXIS}</joint>
<joint name="free1" type="continuous"><parent link="prox1"/><child link="distal1"/><origin xyz="0.2 0 0" rpy="0 0 -1.5"/>{_AXIS}</joint>
<joint name="mot2" type="continuous"><parent link="base"/><child link="prox2"/><origin xyz="0.1 0 0" rpy="0 0 1.1"/>{_AXIS}</joint>
<joint name="free2" type="continuous"><parent link="prox2"/><child link="distal2"/><origin xyz="0.2 0 0" rpy="0 0 1.5"/>{_AXIS}</joint>
<joint name="f1" type="fixed"><parent link="distal1"/><child link="tip"/><origin xyz="0.25 0 0"/></joint>
<joint name="f2" type="fixed"><parent link="distal2"/><child link="end"/><origin xyz="0.25 0 0"/></joint></robot>
""",
    "free": f"""<robot name="free"><link name="body">{_MASS}</link><link name="plate">{_MASS}</link>
<joint name="float" type="floating"><parent link="body"/><child link="plate"/></joint>
<joint name="table" type="planar"><parent link="plate"/><child link="puck"/>{_AXIS}</joint><link name="puck">{_MASS}</link></robot>
""",
    "mesh": """<robot name="mesh"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial><visual><origin xyz="0 0 1"/><geometry>
<mesh filename="MESH" scale="1 -1 2"/></geometry></visual><visual><geometry><sphere radius="0.1"/></geometry></visual></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>
""",
}

MJCF = (
    """<mujoco model="arm">
  <compiler angle="degree" autolimits="true"/>
  <option gravity="0 0 -9.81" timestep="0.002"/>
  <default><joint damping="0.1" armature="0.01" frictionloss="0.2"/><default class="thin"><geom size="0.02"/></default></default>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="upper" pos="0 0 0.5"><joint name="shoulder" axis="0 1 0" range="-90 90" stiffness="2" springref="5"/>
      <inertial pos="0 0 0.1" mass="2" diaginertia="0.1 0.2 0.15"/>
      <body name="lower" pos="0.1 0 0.3" euler="0 10 20"><joint name="elbow" type="hinge" axis="1 1 0" ref="3"/>
        <geom class="thin" type="capsule" fromto="0 0 0 0 0 0.3" size="0.03"/>
        <body name="slide"><joint name="rail" type="slide" axis="0 0 1"/><geom type="box" size="0.1 0.1 0.1" mass="1"/><site name="tip" pos="0 0 0.1"/></body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="rail" joint2="elbow" polycoef="0 0.5 0 0 0"/></equality>
  <actuator><motor name="m" joint="shoulder" gear="50" ctrlrange="-1 1"/></actuator>
</mujoco>
""",
    """<mujoco><worldbody><body name="torso" pos="0 0 1"><freejoint name="root"/><geom type="sphere" size="0.2" density="500"/>
<body name="leg" quat="1 0 0.2 0"><joint name="hip" type="ball"/><geom type="cylinder" size="0.05 0.2" mass="0.5"/></body></body></worldbody></mujoco>
""",
    """<mujoco><worldbody><body name="a"><joint name="a"/><geom size="0.1" mass="1"/><body name="b" pos="1 0 0"><joint name="b"/>
<geom size="0.1" pos="0.3 0 0" mass="1"/></body></body><body name="c" pos="1 1 0"><joint name="c"/><geom size="0.1" pos="0 0.2 0" mass="1"/></body></worldbody>
<equality><connect body1="b" body2="c" anchor="1 0 0"/></equality></mujoco>
""",
)

LOOPS_YAML = """closed_loop: [['tip', 'end']]
type: ['3d']
name_mot: ['mot1', 'mot2']
joint_name: ['free1']
joint_type: ['UJOINT_XZ']
"""
LOOPS_TOML = """actuators = ["mot1", "mot2"]
home = { mot1 = 0.1, free1 = 0.1 }
[[closures]]
name = "tips"
kind = "point"
first = { link = "tip", xyz = [0.0, 0.0, 0.0] }
second = { link = "end", rpy = [0.0, 0.0, "10 deg"] }
"""

SCENARIOS = (
    """title = "a fall"
robot = "two-link"
duration = 0.05
restitution = 0.9
friction = { link2 = 0.1 }
impact_law = "newton"
tie_window = 1e-4
rest_speed = 1e-6
limits = true
points = ["link2", { frame = "link1", position = [0.0, 0.0, 0.1], name = "elbow" }]
method = "rk4"
step = 1e-3
[start]
q = { joint1 = "-30 deg" }
v = [1.0, 0.0]
[[walls]]
kind = "circle"
radius = 4.5
points = ["link2"]
[[walls]]
kind = "plane"
normal = [0.0, 1.0, 0.0]
point = [0.0, -9.0, 0.0]
[control]
kind = "pd"
kp = 100.0
kd = [20.0, 10.0]
goal = "neutral"
gravity = true
rate = 500.0
""",
    """duration = 0.02
rtol = 1e-8
atol = 1e-10
[robot]
source = "two-link"
floating = true
friction = false
mimic = false
gravity = [0.0, 0.0, -9.81]
[control]
kind = "constant"
tau = { joint1 = 1.0 }
""",
)

MESHES = {
    "stl": b"solid s\n"
    + b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n" * 3
    + b"endsolid s\n",
    "obj": b"mtllib x.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nvt 0 0\nf 1/1/1 2/1/1 3/1/1\nf 1 2 4\nusemtl a\nf 2 3 4\n",
    "ply": b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n"
    b"property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n",
    "off": b"OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n",
    "gltf": json.dumps(
        {
            "asset": {"version": "2.0"},
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0, "translation": [0, 0, 1]}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
            "bufferViews": [{"buffer": 0, "byteLength": 36}],
            "buffers": [
                {"byteLength": 36, "uri": "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"},
            ],
        }
    ).encode(),
    "dae": b"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="1"/></asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>
<accessor source="#pa" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor>
</technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="1">
<input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries><library_visual_scenes>
<visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>
""",
}  # fmt: skip


def text_logs(columns: dict[str, Any]) -> list[bytes]:
    """Return logs as text: with a header and without, with commas, semicolons, tabs and decimal commas."""
    written = text.encoded(columns, {})
    header = (written if isinstance(written, str) else written.decode()).encode()
    rows = np.column_stack([columns["t"], *(columns[name] for name in ("q", "v", "tau"))])
    plain = "\n".join(" ".join(f"{x:.6f}" for x in row) for row in rows).encode()
    semicolons = "\n".join(";".join(f"{x:.6f}" for x in row) for row in rows).replace(".", ",").encode()
    return [header, plain, semicolons, header.replace(b",", b"\t"), b"# a remark\n" + header]
