import { randomUUID } from "node:crypto";
import type { Answer } from "../../service/test/send.ts";
import type { Pair } from "./attempts.ts";
import { until, type Twin } from "./twin.ts";

// An open stream, with the text received so far.
class Stream {
  readonly #ending = new AbortController();
  text = "";

  async open(twin: Twin): Promise<this> {
    const headers = { authorization: `Bearer ${twin.token}` };
    const response = await fetch(`${twin.base}/v2/${twin.slug}/events/stream?after=0`, { headers, signal: this.#ending.signal });
    void this.#read(response).catch(() => {});
    return this;
  }

  async #read(response: Response): Promise<void> {
    for await (const chunk of response.body ?? []) this.text += new TextDecoder().decode(chunk);
  }

  close(): void {
    this.#ending.abort();
  }
}

async function create(twin: Twin, account: string): Promise<void> {
  const answer = await twin.call("POST", "/enduseraccounts", { body: { website_account_id: account } });
  if (answer.status !== 201) throw new Error(`creating an account returned ${answer.status}: ${answer.text}`);
}

// While both tenants make changes in turn, each sees only its own, in the stream, in the list, and in a waiting list.
export async function tryFeeds({ by, on, tally }: Pair): Promise<void> {
  const stream = await new Stream().open(by);
  try {
    const asked = await by.call("GET", "/events?limit=1000");
    const { next_after: after } = asked.json.data as { next_after: number };
    const waiting = by.call("GET", `/events?after=${after}&wait=20`);
    await create(on, `late-${on.word}`);
    const last = `late-${randomUUID()}`;
    await create(by, last);
    await until(() => Promise.resolve(stream.text.includes(last) || undefined));
    const told: [string, Answer][] = [
      ["GET /events", await by.call("GET", "/events?limit=1000")],
      ["a waiting GET /events", await waiting],
      ["the stream", { ...asked, text: stream.text }],
    ];
    for (const [what, answer] of told) {
      tally.see(what, answer, { wanted: 200 });
      for (const id of [on.own["case_id"], on.own["user_id"], on.own["client_id"]])
        if (id !== undefined && answer.text.includes(id)) tally.fault(`${what}: an event of the other tenant was returned`);
    }
    if (!told[1]?.[1].text.includes(last)) tally.fault("a waiting GET /events did not return the tenant's own event");
  } finally {
    stream.close();
  }
}
