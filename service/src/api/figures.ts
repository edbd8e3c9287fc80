import { Type, type TSchema } from "typebox";
import { listMoney, listPersonDays, listPersonFigures, listPrecision, type DayPlace, type Period } from "../db/figures.ts";
import { JudgedPrecision, MoneyFigures, PersonDay, PersonFigures, figureDaysDefault, figureDaysMax } from "../domain/figures.ts";
import { Cursor, Limit, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";
import { operation, type Call, type Operation, type Services } from "./operation.ts";
import { Day, dayOf, readRange } from "./overview.ts";

function periodOf({ now }: Services, { query }: Call): Period {
  const { from, to } = readRange(query, Date.parse(now()), { daysDefault: figureDaysDefault, daysMax: figureDaysMax });
  return { from: dayOf(from), to: dayOf(to) };
}

type Listing<T, P> = {
  id: string;
  path: string;
  name: string;
  read: (period: Period, page: { after: P | null; limit: number }) => Promise<T[]>;
  positionOf: (last: T) => P;
  show?: (item: T) => unknown;
};

function listFigures<T, P>(services: Services, call: Call, { read, show, ...of }: Listing<T, P>): Promise<Reply> {
  const period = periodOf(services, call);
  return listPage<T, P>(services, call, {
    ...of,
    key: period,
    read: (after, limit) => read(period, { after, limit }),
    show: (items) => (show ? items.map(show) : items),
  });
}

function days(services: Services, call: Call): Promise<Reply> {
  return listFigures<PersonDay, DayPlace>(services, call, {
    id: "listPersonDays",
    path: "/figures/days",
    name: "days",
    read: (period, page) => listPersonDays(services.database, call.caller.tenant_id, period, page),
    positionOf: ({ day, closed_by }) => [day, closed_by],
  });
}

function people(services: Services, call: Call): Promise<Reply> {
  return listFigures<PersonFigures, string>(services, call, {
    id: "listPersonFigures",
    path: "/figures/people",
    name: "people",
    read: (period, page) => listPersonFigures(services.database, call.caller.tenant_id, period, page),
    positionOf: ({ closed_by }) => closed_by,
  });
}

function precision(services: Services, call: Call): Promise<Reply> {
  return listFigures<JudgedPrecision & { place: string }, string>(services, call, {
    id: "listPrecision",
    path: "/figures/precision",
    name: "precision",
    read: (period, page) => listPrecision(services.database, call.caller.tenant_id, period, page),
    positionOf: ({ place }) => place,
    show: ({ place: _place, ...item }) => item,
  });
}

function money(services: Services, call: Call): Promise<Reply> {
  return listFigures<MoneyFigures, string>(services, call, {
    id: "listMoney",
    path: "/figures/money",
    name: "money",
    read: (period, page) => listMoney(services.database, call.caller.tenant_id, period, page),
    positionOf: ({ currency }) => currency,
  });
}

const query = Type.Object({
  start_date: Day(
    `The first day, in UTC. Default: ${figureDaysDefault} days before the end. A period has at most ${figureDaysMax} days.`,
  ),
  end_date: Day("The day after the last. Default: tomorrow."),
  limit: Limit,
  cursor: Cursor,
});

const common = { scope: "read:figures", tag: "Figures", query } as const;
const page = (name: string, item: TSchema) => pageOf(name, item, "A page of figures");

export const figureOperations: Operation[] = [
  operation({
    ...common,
    id: "listPersonDays",
    method: "GET",
    path: "/figures/days",
    summary: "List what each person closed on each day",
    description: "By day and then by person. Counts cases that are still closed, by the day of their last close.",
    success: page("days", PersonDay),
    problems: ["bad-request"],
    handle: days,
  }),
  operation({
    ...common,
    id: "listPersonFigures",
    method: "GET",
    path: "/figures/people",
    summary: "List what each person closed in the period",
    description: "Also the time to decision, and how many closes were overturned.",
    success: page("people", PersonFigures),
    problems: ["bad-request"],
    handle: people,
  }),
  operation({
    ...common,
    id: "listPrecision",
    method: "GET",
    path: "/figures/precision",
    summary: "List the precision of rules and models",
    description:
      "By the outcomes of the cases that were closed in the period. A case counts for every rule and model in its evidence.",
    success: page("precision", JudgedPrecision),
    problems: ["bad-request"],
    handle: precision,
  }),
  operation({
    ...common,
    id: "listMoney",
    method: "GET",
    path: "/figures/money",
    summary: "List the money in confirmed cases",
    description:
      "By currency: the payments and transfers that are evidence in cases that were closed as confirmed fraud in the period. It is added up a moment after the close.",
    success: page("money", MoneyFigures),
    problems: ["bad-request"],
    handle: money,
  }),
];
