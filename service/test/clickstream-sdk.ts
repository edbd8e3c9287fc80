import { createRequire } from "node:module";
import { build } from "vite";

const require = createRequire(import.meta.url);
let made: Promise<string> | null = null;

// The package as npm delivers it, bundled into one classic script that sets the global its documentation names. It is built once
// per process because this takes 0.3 s.
export function clickstreamScript(): Promise<string> {
  return (made ??= bundle());
}

async function bundle(): Promise<string> {
  const entry = require.resolve("@aws/clickstream-web/lib-esm/index.js");
  const built = await build({
    configFile: false,
    logLevel: "error",
    build: { write: false, minify: false, lib: { entry, formats: ["iife"], name: "Clickstream" } },
  });
  const [first] = [built].flat();
  if (!first || !("output" in first)) throw new Error("vite built nothing");
  return `${first.output[0].code}\nwindow.ClickstreamAnalytics = Clickstream.ClickstreamAnalytics;\n`;
}
