# archiver: one job, one archive
archiver_SRCS := $(addprefix archiver/,main.c unpack.c pack.c paths.c \
		beneath.c execpath.c report.c seen.c source.c cage.c \
		sysfilter.c)
archiver_LIBS := -lseccomp -larchive
