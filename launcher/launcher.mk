# launcher: without shared libraries, as every start copies its mappings thrice
ifndef SANITIZE
launcher_LIBS := -static-pie -lseccomp
endif
