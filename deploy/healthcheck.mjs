// Exits with 0 where the service beside it is well. Who serves requests is asked whether it is ready. A process that is an engine
// alone serves none: there the metrics tell when it last looked for work.
const { PORT = "", METRICS_HOST = "", METRICS_PORT = "", ROLES = "" } = process.env;
const timeoutMs = 5_000;
const passAgeMaxSeconds = 120;

async function fetchText(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
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
