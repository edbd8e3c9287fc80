// Metrics are on the loopback address alone, which the containers of a pod share and a Prometheus elsewhere cannot reach. This is
// run beside the service and passes connections on, from the port that is its argument.
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";

const metricsPort = Number(process.env["METRICS_PORT"] || 9464);
const ownPort = Number(process.argv[2] || 9465);
const silenceMs = 30_000;
const connectionsMax = 16;

const server = createServer((from) => {
  const to = connect(metricsPort, "127.0.0.1");
  // What breaks on one side ends the other, and the next scrape tries again.
  for (const side of [from, to]) side.setTimeout(silenceMs, () => side.destroy());
  pipeline(from, to, from, () => {});
});
server.maxConnections = connectionsMax;
server.listen(ownPort, "0.0.0.0");
// As a container's first process it would not end by SIGTERM unless it heard it.
process.on("SIGTERM", () => process.exit(0));
