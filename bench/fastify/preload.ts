// Loaded into a service before its own code (`node --import`): it then serves HTTP with Fastify. Everything else stays the same.
import { registerHooks } from "node:module";

const ours = new URL("../../service/src/api/http/server.ts", import.meta.url).href;
const theirs = new URL("server.ts", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    return found.url === ours ? { ...found, url: theirs } : found;
  },
});
