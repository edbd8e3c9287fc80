import { createWriteStream, renameSync, rmSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Failure } from "../domain/failure.ts";
import { UsageFault } from "./command.ts";

export function requireNew(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })) throw new UsageFault(`${file} exists already`);
}

// Writes to another name first, so that a file with the given name is always complete.
export async function writeNew(file: string, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const part = `${file}.part`;
  try {
    await pipeline(pieces, createWriteStream(part, { flags: "w" }));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error instanceof TypeError
      ? new Failure("bad-gateway", "the connection was lost before the file was complete: run the command again", {
          cause: error,
        })
      : error;
  }
}
