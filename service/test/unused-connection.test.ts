import { connect } from "node:net";
import { expect, test } from "vitest";
import { useService } from "./harness.ts";

const service = useService({ roles: new Set(["api"]) });

// The server closes such a connection after 30 s.
test("framing: a connection that sends nothing is closed without a response, which a browser would take for that to its next request", async () => {
  const socket = connect(service.current.port, "127.0.0.1");
  let text = "";
  socket.on("data", (bytes) => (text += bytes.toString()));
  const fault = await new Promise<Error | null>((resolve) => {
    socket.once("error", resolve).once("close", () => resolve(null));
  });
  expect([text, fault]).toEqual(["", null]);
}, 60_000);
