// Exits with 0 if the service in this container is healthy. A process that serves requests must report that it is ready. A
// process that only runs the engine serves none, so its metrics must show that the engine looked for work recently.
const { PORT = "", METRICS_HOST = "", METRICS_PORT = "", ROLES = "" } = process.env;
const timeoutMs = 5_000;
const passAgeMaxSeconds = 120;

async function fetchText(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} returned ${response.status}: ${text}`);
  return text;
}

// A server that listens on all addresses can be reached on loopback.
function metricsHost() {
  if (["", "0.0.0.0", "::"].includes(METRICS_HOST)) return "127.0.0.1";
  return METRICS_HOST.includes(":") ? `[${METRICS_HOST}]` : METRICS_HOST;
}

async function check() {
  const isServing = ROLES === "" || /api|collector/.test(ROLES);
  if (isServing) return fetchText(`http://127.0.0.1:${PORT || 8080}/readyz`);
  const text = await fetchText(`http://${metricsHost()}:${METRICS_PORT || 9464}/metrics`);
  const passedAt = Number(/^casehound_engine_last_pass_seconds (\S+)$/m.exec(text)?.[1]);
  const age = Date.now() / 1000 - passedAt;
  if (!(age <= passAgeMaxSeconds)) throw new Error(`the engine last looked for work ${Math.round(age)} s ago`);
  return "the engine looks for work";
}

try {
  process.stdout.write(`${await check()}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
