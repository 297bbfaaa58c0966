# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The elements and attributes that a model of a client may have: an allow-list.

Names are exact, also in case.  That an attribute fits its element is left to MuJoCo; what names a
file is tied to its element here.  A test holds the list against the schema of the installed
MuJoCo (`mj_printSchema`), so that additions of a new version are reviewed before they are allowed.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Read and taken out before MuJoCo sees a document.
INCLUDE = 'include'
FOLDERS = ('assetdir', 'meshdir', 'texturedir', 'strippath')
SIDES = ('fileright', 'fileleft', 'fileup', 'filedown', 'filefront', 'fileback')

# (element, attribute) whose value is a file -> which folder of the compiler it is in.
FILES: dict[tuple[str, str], str] = {
    ('mesh', 'file'): 'meshdir',
    ('hfield', 'file'): 'meshdir',
    ('skin', 'file'): 'meshdir',
    ('flexcomp', 'file'): 'meshdir',
    ('texture', 'file'): 'texturedir',
    **{('texture', side): 'texturedir' for side in SIDES},
}
MODEL = ('model', 'file')  # another document, for attach

# The only values of content_type: decoders that are part of MuJoCo.
CONTENT_TYPES = _words("""
    image/png image/ktx image/vnd.mujoco.texture image/vnd.mujoco.hfield
    model/obj model/stl model/vnd.mujoco.msh text/xml
""")
PLUGINS = 'mujoco.'  # those of MuJoCo itself; others may run any code

ELEMENTS = _words("""
    accelerometer actuator actuatorfrc actuatorpos actuatorvel adhesion asset attach
    ballangvel ballquat body bone camera camprojection clock compiler composite config
    connect contact custom cylinder damper dcmotor default deformable distance e_kinetic
    e_potential edge elasticity element equality exclude extension fixed flag flex flexcomp
    flexstrain force frame frameangacc frameangvel framelinacc framelinvel framepos framequat
    framexaxis frameyaxis framezaxis freejoint fromto general geom global gyro headlight
    hfield include inertial insidesite instance intvelocity joint jointactuatorfrc
    jointlimitfrc jointlimitpos jointlimitvel jointpos jointvel key keyframe layer
    lengthrange light magnetometer map material mesh model motor mujoco muscle normal numeric
    option orientation pair pid pin plugin position pulley quality rangefinder replicate rgba
    scale sensor site size skin spatial statistic subtreeangmom subtreecom subtreelinvel
    tactile tendon tendonactuatorfrc tendonlimitfrc tendonlimitpos tendonlimitvel tendonpos
    tendonvel text texture torque touch tuple user velocimeter velocity visual weld worldbody
""")

ATTRIBUTES = _words("""
    accel act actdim actearly active activelayers actlimited actrange actuation actuator
    actuatorfrclimited actuatorfrcrange actuatorgravcomp actuatorgroupdisable actuatorlength
    actuatornegative actuatorpositive actuatortendon actuatorwidth adhesion align alignfree
    alpha ambient anchor angle apirate area armature attenuation autolimits
    autoreset axis axisangle azimuth balanceinertia bias biasprm biastype bindpos bindquat
    body body1 body2 boundinertia boundmass builtin bulbradius bv bvactive camera cameraid
    castshadow ccd_iterations ccd_tolerance cell cellcount center childclass clampctrl class
    coef cogging collision colorspace com conaffinity condim cone conflict connect constraint
    contact contactforce contactfriction contactgap contactheight contactpoint contacttorque
    contactwidth content_type controller contype convexhull coord coordinate count
    crankbroken cranklength cranksite ctrl ctrllimited ctrlrange curve cutoff damper damping
    dampratio data datatype delay density diagexact diaginertia diameter diffuse dim dir
    directional discardvisual divisor dof dynprm dyntype elastic2d element elemtexcoord
    elevation ellipsoidinertia embed emission enclosed energy equality euler eulerdamp
    eulerseq exactmeshinertia exponent extent face ffrange filterparent fitaabb fitscale
    flatskin flex fluidcoef fluidshape focal focalpixel fog fogend fogstart
    force forcelimited forcerange forcewidth fovy fpmax frame framelength framewidth friction
    frictionloss fromto frustum fullinertia fuse fusestatic fvmax fwdinv gain gainprm
    gaintype gap gear geom geom1 geom2 glow gravcomp gravity grid gridlayout gridrange
    gridsize group haze height hfield hflip id imax impratio inductance inertia inertiabox
    inertiafromgeom inertiagrouprange inflate inheritrange initial input instance integrator
    intensity interp interval inttotal invdiscrete ipc ipd island iterations jacobian joint
    joint1 joint2 jointinparent jointlength jointwidth key ki kp kv
    lengthrange light limit limited linewidth lmax lmin ls_iterations ls_tolerance lugre
    magnetic margin mark markrgb mass material maxforce maxhullvert meaninertia meanmass
    meansize memory mesh metallic midphase mocap mode model motorconst mpos
    mpr_iterations mpr_tolerance mquat multiccd name nativeccd nchannel ncol nconmax
    needstage njmax nkey node nodecoord noise nominal normal noslip_iterations
    noslip_tolerance nrow nsample nstack num numquads numslices numstacks nuser_actuator
    nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor nuser_site nuser_tendon nuserdata
    o_friction o_margin o_solimp o_solref objname objtype offheight offsamples offset
    offwidth origin orthographic output override params passive passthrough plastic plugin
    point poisson polycoef pos posrange prefix principal principalpixel priority prm
    projection qpos quat qvel radius random range rangefinder realtime reduce ref reflectance
    refname refpos refquat refsafe refsite reftype relpose resistance resolution rgb1 rgb2
    rgba rigid role roughness saturation savecanonical savecompiled saveinertial scale
    sdf_initpoints sdf_iterations section sectionsize selectpoint selfcollide sensor
    sensorsize sep separator settotalmass shadowclip shadowscale shadowsize shear
    shellinertia shininess sidesite simple site site1 site2 size sleep sleep_tolerance
    slewmax slidercrank slidersite smoothnormal softness solimp solimpfix solimpfriction
    solimplimit solmix solref solreffix solreffriction solreflimit solver spacing
    specular speculative spring springdamper springlength springref springyield
    stiffness stiffnessrot subgrid subtree1 subtree2 surfacevel target tausmooth
    tendon tendon1 tendon2 texcoord texrepeat texture texuniform thermal thickness
    time timeconst timestep tolerance tolrange torque torquescale type useexisting uselimit
    user usethread value velrange vertex vertid vertweight vflip viscosity vmax warmstart
    width wind xyaxes yield young zaxis zfar znear
""")

# Element of a URDF -> elements in it that MuJoCo reads; all others are left out.
URDF: dict[str, frozenset[str]] = {
    'robot': frozenset({'material', 'link', 'joint'}),
    'link': frozenset({'inertial', 'visual', 'collision'}),
    'inertial': frozenset({'origin', 'mass', 'inertia'}),
    'visual': frozenset({'origin', 'geometry', 'material'}),
    'collision': frozenset({'origin', 'geometry'}),
    'geometry': frozenset({'box', 'sphere', 'cylinder', 'capsule', 'mesh'}),
    'material': frozenset({'color'}),
    'joint': frozenset({'origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic'}),
}
URDF_MJCF: dict[str, frozenset[str]] = {
    'mujoco': frozenset({'compiler', 'option', 'size'}),
    'option': frozenset({'flag'}),
}

# Attributes that MuJoCo reads of a URDF outside its <mujoco>.
URDF_ATTRIBUTES = _words("""
    child damping effort filename friction ixx ixy ixz iyy iyz izz joint length link lower mass
    multiplier name offset radius rgba rpy scale size type upper value velocity xyz
""")
