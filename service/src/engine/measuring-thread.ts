import { parentPort, workerData } from "node:worker_threads";
import { readAs } from "../db/reader.ts";
import { measureDrift } from "./drift.ts";
import type { ThreadData } from "./measuring.ts";
import { compareShadow } from "./promotion.ts";

// The code of the thread that measures a model. It reads with its own connection and writes nothing: the engine stores the
// result. Written by the engine.
const { address, asked } = workerData as ThreadData;
const { reader, end } = await readAs(address);
const measuring = asked.kind === "compare" ? compareShadow(reader, asked.job) : measureDrift(reader, asked.job);
const result = await measuring.finally(end);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(result);
