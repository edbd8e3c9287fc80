import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";

// Reads the files in deploy, for the tests that compare them with the code.
const folder = join(import.meta.dirname, "../deploy");

type Security = { readOnlyRootFilesystem?: boolean; capabilities?: { drop?: string[] } };
type PodContainer = { name: string; env?: { name: string; value: string }[]; envFrom?: unknown[]; securityContext?: Security };
type Manifest = {
  kind: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  spec?: {
    // Either labels directly, or matchLabels.
    selector?: Record<string, string | Record<string, string>>;
    template?: { metadata: { labels: Record<string, string> }; spec: { containers: PodContainer[] } };
  };
};
type ComposeService = {
  environment?: Record<string, string>;
  read_only?: boolean;
  cap_drop?: string[];
  extends?: { file: string; service: string };
};
type Compose = { services: Record<string, ComposeService> };

export type Environment = { where: string; values: Record<string, string> };

export function readDeployed(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

function readManifests(name: string): Manifest[] {
  return parseAllDocuments(readDeployed(name)).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS() as Manifest;
  });
}

// The manifests as JSON text, for searching.
export const manifests = (name: string): string => JSON.stringify(readManifests(name));

const podFiles = ["kubernetes/web.yaml", "kubernetes/engine.yaml"];

function podContainers(): { where: string; container: PodContainer }[] {
  return podFiles.flatMap((file) =>
    readManifests(file)
      .flatMap((each) => each.spec?.template?.spec.containers ?? [])
      .map((container) => ({ where: `${file} ${container.name}`, container })),
  );
}

// Selectors of deployments, budgets and services that match no pod in the same file.
export function strayOnes(): string[] {
  return podFiles.flatMap((file) => {
    const all = readManifests(file);
    const pods = all.flatMap(({ spec }) => (spec?.template ? [spec.template.metadata.labels] : []));
    const isMet = (selector: Record<string, string | Record<string, string>>) => {
      const wanted = Object.entries(selector).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value] as const] : Object.entries(value),
      );
      return wanted.length > 0 && pods.some((labels) => wanted.every(([name, value]) => labels[name] === value));
    };
    return all.filter(({ spec }) => !isMet(spec?.selector ?? {})).map(({ kind }) => `${file} ${kind}`);
  });
}

export function configMapOf(name: string): Record<string, string> {
  return Object.assign({}, ...readManifests(name).map(({ data, stringData }) => data ?? stringData ?? {}));
}

const readCompose = (name: string): Compose => parse(readDeployed(name), { merge: true }) as Compose;
const compose = (): Compose => readCompose("compose.yaml");
const cluster = (): Compose => readCompose("compose.citus.yaml");

// The services of compose.yaml with those of compose.standby.yaml, merged as compose does it.
function withStandby(): [string, ComposeService][] {
  const base = compose().services;
  return Object.entries(readCompose("compose.standby.yaml").services).map(([name, service]) => {
    const from = base[service.extends?.service ?? name];
    return [name, { ...from, ...service, environment: { ...from?.environment, ...service.environment } }];
  });
}

// As compose resolves it: the password is given, and everything else has its default.
function filled(values: Record<string, string>): Record<string, string> {
  const open = /\$\{\w+:(?:-([^}]*)|\?[^}]*)\}/g;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value.replaceAll(open, (_all, fallback?: string) => fallback ?? "given"),
    ]),
  );
}

export function environments(): Environment[] {
  const image = /^ENV (.*)$/m.exec(readDeployed("Dockerfile"))?.[1] ?? "";
  const unit = [...readDeployed("casehound.service").matchAll(/^Environment=(\S+)$/gm)].map(([, pair = ""]) => pair);
  const shared = { ...configMapOf("kubernetes/config.yaml"), ...configMapOf("kubernetes/secret.yaml.example") };
  return [
    { where: "Dockerfile", values: pairsOf(image.split(" ")) },
    { where: "casehound.service", values: pairsOf(unit) },
    ...Object.entries(compose().services).map(([name, { environment = {} }]) => ({
      where: `compose.yaml ${name}`,
      values: filled(environment),
    })),
    ...Object.entries(cluster().services).map(([name, { environment = {} }]) => ({
      where: `compose.citus.yaml ${name}`,
      values: filled(environment),
    })),
    ...withStandby().map(([name, { environment = {} }]) => ({
      where: `compose.standby.yaml ${name}`,
      values: filled(environment),
    })),
    ...podContainers().map(({ where, container: { env = [], envFrom } }) => ({
      where,
      values: { ...(envFrom && shared), ...Object.fromEntries(env.map(({ name, value }) => [name, value])) },
    })),
  ];
}

function pairsOf(pairs: string[]): Record<string, string> {
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}

export function containersOf(): { where: string; isReadOnly: boolean; dropped: string[] }[] {
  return [
    ...[...Object.entries(compose().services), ...Object.entries(cluster().services), ...withStandby()].map(
      ([name, { read_only, cap_drop }]) => ({
        where: `compose ${name}`,
        isReadOnly: read_only === true,
        dropped: cap_drop ?? [],
      }),
    ),
    ...podContainers().map(({ where, container: { securityContext } }) => ({
      where,
      isReadOnly: securityContext?.readOnlyRootFilesystem === true,
      dropped: securityContext?.capabilities?.drop ?? [],
    })),
  ];
}

export type Query = { where: string; text: string; names: string[]; labels: string[] };

type Rules = { groups: { rules: { alert: string; expr: string }[] }[] };
type Dashboard = { panels: { title: string; targets: { refId: string; expr: string }[] }[] };

// Every query of the alerts and the dashboard.
export function queries(): Query[] {
  const rules = parse(readDeployed("monitoring/alerts.yaml")) as Rules;
  const { panels }: Dashboard = JSON.parse(readDeployed("monitoring/grafana-dashboard.json"));
  return [
    ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => readQuery(`the alert ${alert}`, expr))),
    ...panels.flatMap(({ title, targets }) => targets.map(({ refId, expr }) => readQuery(`the panel "${title}" ${refId}`, expr))),
  ];
}

const words = new Set(["by", "without", "on", "ignoring", "and", "or", "unless", "offset", "bool"]);

// Metric names are what is left of a query without strings, labels, ranges, functions and keywords.
function readQuery(where: string, text: string): Query {
  const bare = text.replaceAll(/"[^"]*"/g, '""');
  const grouped = [...bare.matchAll(/\b(?:by|without|on|ignoring) *\(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(","));
  const chosen = [...bare.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    list.split(",").map((each) => each.split(/[=!]/)[0] ?? ""),
  );
  const labels = [...new Set([...grouped, ...chosen].map((label) => label.trim()).filter((label) => label !== ""))];
  const rest = bare.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring) *\([^)]*\)/g, " ");
  const names = [...rest.matchAll(/[a-zA-Z_:][\w:]*(?! *\()\b/g)].map(([name]) => name).filter((name) => !words.has(name));
  return { where, text, names: [...new Set(names)], labels };
}
