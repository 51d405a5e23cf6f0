# the spawner: registry, policy, rings
spawner_SRCS := $(wildcard spawner/*.c) spawner/policy/filter.c
spawner_LIBS := -lseccomp -luuid
