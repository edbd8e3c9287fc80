// Not imported: an import reads all of the module's exports, and reading `WebSocket` loads the implementation of fetch, which takes
// 50 ms of every start and 13 MB.
export const { STATUS_CODES, createServer } = process.getBuiltinModule("node:http");
