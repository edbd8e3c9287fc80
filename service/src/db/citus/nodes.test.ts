import { expect, test } from "vitest";
import type { Queryable, Row } from "../postgres/database.ts";
import type { Statement } from "../postgres/sql.ts";
import { countNodes } from "./nodes.ts";

test("readyz: however many callers ask at once, the nodes of a cluster are asked once", async () => {
  const asked: string[] = [];
  // Answers as a coordinator with two nodes does.
  const coordinator: Queryable = {
    query: async <R extends Row>({ text }: Statement): Promise<R[]> => {
      asked.push(text);
      const rows = text.includes("pg_dist_node")
        ? [
            { host: "a", port: 1 },
            { host: "b", port: 2 },
          ]
        : [{ success: true, result: "1" }];
      return rows as unknown as R[];
    },
  };
  const answers = await Promise.all(Array.from({ length: 100 }, () => countNodes(coordinator)));
  expect(new Set(answers.map((each) => JSON.stringify(each)))).toEqual(new Set(['{"all":2,"reachable":2}']));
  expect(asked).toHaveLength(3);
});
