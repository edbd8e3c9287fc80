// Writes the client's table and types from the service's table of operations. A test compares the two.
import { writeFileSync } from "node:fs";
import { generateClient } from "./client-source.ts";

const target = new URL("../client/src/operations.ts", import.meta.url);
writeFileSync(target, generateClient());
console.log("client/src/operations.ts written");
