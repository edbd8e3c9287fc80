import { passwordCost } from "../src/api/people/password.ts";

// Most tests sign somebody in, and few are about passwords. A real hash costs 45 ms of a core, this one 1 ms.
Object.assign(passwordCost, { memory: 64, passes: 1 });
