import type { Random } from "@casehound/simulator/random";
import { agents, botAgent, sessionIdOf, type PageEvent, type PageRequest, type Shape } from "./page-event.ts";

// Where forged events come from: a browser that the attacker invented, or a real one of theirs.
export type Guise = { device: string; session: string; ip: string };

export function newGuise(random: Random, at: number, ip: string): Guise {
  const device = random.uuid();
  return { device, session: sessionIdOf(device, at), ip };
}

// Addresses that the attacker controls, each in its own block.
export function ownAddress(index: number): string {
  return `10.${66 + (index >> 8)}.${index & 255}.9`;
}

export function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

type Naming = { account: unknown; at: number };

// A program at work in the account: even gaps, no input, and the browser or its user agent shows it.
export function robot({ device, session, ip }: Guise, { account, at }: Naming, shape: Shape, count = 12): PageRequest {
  const events = repeat(count, (index): PageEvent => ({
    type: "add_to_cart",
    at: at - (count - index) * 1000,
    account,
    device,
    session,
    isDriven: true,
  }));
  return { events, ip, shape, agent: shape === "tag" ? agents[0] : botAgent };
}

// Failed log-ins on one account, as if from many devices and addresses.
export function failures(guises: Guise[], { account, at }: Naming, shape: Shape): PageRequest[] {
  return guises.map(({ device, session, ip }, index) => ({
    events: repeat(4, (each): PageEvent => ({
      type: "login_failed",
      at: at - (index * 4 + each + 1) * 2000,
      account,
      device,
      session,
    })),
    ip,
    shape,
    agent: agents[index % agents.length] ?? "",
  }));
}

// A theft by a stranger, entirely invented.
export function madeUpTheft({ device, session, ip }: Guise, { account, at }: Naming, shape: Shape): PageRequest {
  const step = (type: string, before: number, amount?: number): PageEvent => ({
    type,
    at: at - before * 1000,
    account,
    device,
    session,
    ...(amount !== undefined && { attributes: { amount } }),
  });
  const events = [
    ...repeat(11, (index) => step("login_failed", 90 - index)),
    step("login_succeeded", 60),
    step("password_changed", 50),
    step("payee_added", 40),
    step("payment", 30, 50_000),
    step("transfer", 20, 90_000),
  ];
  return { events, ip, shape, agent: agents[2] };
}

// A farm of sign-ups with disposable e-mail addresses.
export function signUps({ device, session, ip }: Guise, accounts: unknown[], at: number, shape: Shape): PageRequest {
  const events = accounts.map((account, index): PageEvent => ({
    type: "signup",
    at: at - (accounts.length - index) * 3000,
    account,
    device,
    session,
    attributes: { email: `x${index}@mailinator.com` },
  }));
  return { events, ip, shape, agent: agents[0] };
}

export function loginsOf(
  { device, session, ip }: Guise,
  accounts: unknown[],
  { at, type, agent }: { at: (index: number) => number; type: "login_succeeded" | "login_failed"; agent: string },
  shape: Shape,
): PageRequest {
  const events = accounts.map((account, index): PageEvent => ({ type, at: at(index), account, device, session }));
  return { events, ip, shape, agent };
}
