# The protocol's official clients, which debuglantern-mcp is tested with; node
# is there where the page can be built (web/web.mk).
MCP_TEST_MODULES := $(O)/mcp-test/node_modules/.package-lock.json
MCP_TEST :=	$(if $(filter no,$(WEB)),,$(MCP_TEST_MODULES))

$(MCP_TEST_MODULES): regress/mcp/package.json regress/mcp/package-lock.json \
    regress/mcp/.npmrc
	@mkdir -p $(O)/mcp-test
	cp regress/mcp/package.json regress/mcp/package-lock.json \
	    regress/mcp/.npmrc $(O)/mcp-test
	$(call say,NPM,mcp-test)cd $(O)/mcp-test && npm ci --loglevel=error --no-progress
	@touch $@
