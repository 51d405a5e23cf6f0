# debugger: one process per debugged session
# debugger/*/ are looked at by regress/static/wings.py
debugger_SRCS := $(wildcard debugger/*.c debugger/*/*.c)
debugger_LIBS = $(LIBINST) $(LIBCOMMON) -lseccomp -ljson-c -lnettle
