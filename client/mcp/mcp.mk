# debuglantern-mcp: lines of standard input to the local socket, and back
client/mcp_LIBS :=	$(LIBCLIENT) $(LIBCOMMON) -ljson-c -lbsd -lnettle
$(BIN)/debuglantern-mcp: $(LIBCLIENT)
