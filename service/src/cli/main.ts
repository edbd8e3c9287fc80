import { codeOf } from "../db/postgres/faults.ts";
import { runCommand } from "./run.ts";

// The reader of standard output may close the pipe, as `head` does. That is not a failure.
process.stdout.on("error", (error) => {
  if (codeOf(error) !== "EPIPE") throw error;
});

const code = await runCommand(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
// A service that was started by "serve" sets its own exit code.
if (code !== 0) process.exitCode = code;
