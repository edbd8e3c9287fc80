export const version = "0.1.0";

const script = document.currentScript ?? document.querySelector("script[data-app-key]");
const { appKey: givenKey = "", endpoint = "" } = script instanceof HTMLElement ? script.dataset : {};
const address = script instanceof HTMLScriptElement && script.src !== "" ? script.src : location.href;

export const appKey = givenKey;
// Relative to the script, so a service behind a proxy's path is found too.
export const collector = endpoint === "" ? new URL(`collect/${encodeURIComponent(appKey)}`, address).href : endpoint;
