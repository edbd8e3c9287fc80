export const version = "0.1.0";

const script = document.currentScript ?? document.querySelector("script[data-app-key]");
const { appKey: givenKey = "", endpoint = "" } = script instanceof HTMLElement ? script.dataset : {};
const address = script instanceof HTMLScriptElement && script.src !== "" ? script.src : location.href;

export const appKey = givenKey;
// Beside the script, so that a service behind a path of a proxy is found too.
export const collector = endpoint === "" ? new URL(`collect/${encodeURIComponent(appKey)}`, address).href : endpoint;
