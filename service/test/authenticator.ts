import { generateKeyPairSync, hash, randomBytes, sign, type KeyObject } from "node:crypto";

type Options = { challenge: string; user: { id: string } };
// What an attacker would change.
type Lies = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  isVerified?: boolean;
  counter?: number;
  key?: KeyObject;
  publicKey?: KeyObject;
  // Written into the authenticator's data.
  modulus?: string;
};

const bytes = (value: Buffer) => Buffer.concat([Buffer.from([0x58, value.length]), value]);

// An authenticator as the WebAuthn specification describes it, in software, so that tests can make it lie.
export class Authenticator {
  readonly #site: { id: string; origin: string };
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #id = randomBytes(16);
  #counter = 0;
  #handle = "";

  constructor(origin: string) {
    this.#site = { id: new URL(origin).hostname, origin };
  }

  create({ challenge, user }: Options, lies: Lies = {}) {
    this.#handle = user.id;
    const id = Buffer.concat([Buffer.from([0, this.#id.length]), this.#id]);
    const data = Buffer.concat([
      this.#data(lies, 0x40),
      Buffer.alloc(16),
      id,
      this.#publicKey(),
      Buffer.from(lies.modulus ?? "", "base64url"),
    ]);
    const client = this.#client({ type: "webauthn.create", challenge }, lies);
    const told = lies.publicKey ?? this.#keys.publicKey;
    const public_key = encode(told.export({ format: "der", type: "spki" }));
    return { id: this.#id.toString("base64url"), client_data: encode(client), authenticator_data: encode(data), public_key };
  }

  get({ challenge }: { challenge: string }, lies: Lies = {}) {
    this.#counter += 1;
    const data = this.#data(lies, 0);
    const client = this.#client({ type: "webauthn.get", challenge }, lies);
    const signed = Buffer.concat([data, hash("sha256", client, "buffer")]);
    const signature = sign("sha256", signed, lies.key ?? this.#keys.privateKey);
    return {
      id: this.#id.toString("base64url"),
      client_data: encode(client),
      authenticator_data: encode(data),
      signature: encode(signature),
      user_handle: this.#handle,
    };
  }

  #data({ rpId, isVerified = true, counter }: Lies, more: number): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? this.#counter);
    const flags = 0x01 | (isVerified ? 0x04 : 0) | more;
    return Buffer.concat([hash("sha256", rpId ?? this.#site.id, "buffer"), Buffer.from([flags]), count]);
  }

  #client(own: { type: string; challenge: string }, { origin, challenge, type }: Lies): Buffer {
    const told = { type: type ?? own.type, challenge: challenge ?? own.challenge, origin: origin ?? this.#site.origin };
    return Buffer.from(JSON.stringify({ ...told, crossOrigin: false }));
  }

  // An ES256 key as COSE writes it.
  #publicKey(): Buffer {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const [first, second] = [Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
    return Buffer.concat([Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]), bytes(first), Buffer.from([0x22]), bytes(second)]);
  }
}

function encode(value: Buffer): string {
  return value.toString("base64url");
}
