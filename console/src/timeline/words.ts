const typeNames: Record<string, string> = {
  login_succeeded: "Logged in",
  login_failed: "Log-in failed",
  signup: "Signed up",
  password_changed: "Password changed",
  email_changed: "E-mail changed",
  mfa_changed: "Second factor changed",
  payee_added: "Payee added",
  payment: "Payment",
  transfer: "Transfer",
  page_view: "Page view",
  logout: "Logged out",
  fraud_report: "Fraud reported",
};

// A shop names its custom events itself, so the name is only made readable and not translated.
export function typeWords(type: string): string {
  const known = typeNames[type];
  if (known !== undefined) return known;
  const words = type
    .replace(/^custom:/, "")
    .replace(/[_.-]+/g, " ")
    .trim();
  return words === "" ? type : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

const browsers: [RegExp, string][] = [
  [/HeadlessChrome\/(\d+)/, "Headless Chrome"],
  [/Edg\/(\d+)/, "Edge"],
  [/OPR\/(\d+)/, "Opera"],
  [/(?:Firefox|FxiOS)\/(\d+)/, "Firefox"],
  [/(?:Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/Version\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//, "Safari"],
];
const systems: [RegExp, string][] = [
  [/Windows NT/, "Windows"],
  [/iPhone|iPad/, "iOS"],
  [/Mac OS X/, "macOS"],
  [/Android/, "Android"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

// For example "Chrome 156 on Windows". An unknown agent is shown as it is.
export function agentWords(agent: string): string {
  const found = browsers.flatMap(([pattern, name]) => {
    const match = pattern.exec(agent);
    return match ? [`${name} ${match[1] ?? ""}`] : [];
  })[0];
  const system = systems.find(([pattern]) => pattern.test(agent))?.[1];
  if (found === undefined) return agent;
  return system === undefined ? found : `${found} on ${system}`;
}

export function durationWords(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  const hours = Math.floor(seconds / 3600);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

// Drops an http or https scheme. Any other scheme, or text that is not a URL, is shown whole.
export function pathOf(url: string): string {
  try {
    const { protocol, host, pathname, search } = new URL(url);
    return protocol === "https:" || protocol === "http:" ? `${host}${pathname}${search}` : url;
  } catch {
    return url;
  }
}
