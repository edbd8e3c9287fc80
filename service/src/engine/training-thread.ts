import { parentPort, workerData } from "node:worker_threads";
import { readAs, type Reader } from "../db/reader.ts";
import type { DatabaseAddress } from "../db/postgres/connections.ts";
import { trainMoment, type Trained, type TrainingJob, type Untrained } from "./training-work.ts";
import type { RunProgress } from "../domain/model.ts";

// The code of the thread that trains a model. It reads with its own connection and writes nothing: the engine stores the result.
export type ThreadMessage = { progress: RunProgress } | { result: Trained | Untrained };
export type ThreadData = { address: DatabaseAddress; job: TrainingJob };

// Written by the engine.
const { address, job } = workerData as ThreadData;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
const tell = (message: ThreadMessage) => parentPort?.postMessage(message);
const { reader, end }: Reader = await readAs(address);
try {
  tell({ result: await trainMoment(reader, job, (progress) => tell({ progress })) });
} finally {
  await end();
}
