import { createHash, type Hash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import type { AppliedMigration } from "../postgres/migrate.ts";

// A backup's file: a line that names the format, then pieces packed by zstd, then the SHA-256 of all that. The pieces are one
// header, each table's rows as COPY writes them with an end that counts them, and one end of it all.
export class BackupFault extends Error {}
// The file itself is at fault; "it" is the file.
export class FileFault extends BackupFault {}

const formatVersion = 1;
const opening = "casehound backup ";
const firstLine = Buffer.from(`${opening}${formatVersion}\n`);
const digestBytes = 32;
const pieceHeadBytes = 5;
// Rows come in pieces as small as the network's; only a header of very many tables is larger.
const pieceBytesMax = 16 * 1024 ** 2;

export type DumpedTable = { name: string; columns: string[]; rows: number };
export type DumpHeader = {
  made_at: string;
  migrations: AppliedMigration[];
  // The days of which `activities` has a partition.
  days: string[];
  tables: DumpedTable[];
};
export type DumpedSequence = { name: string; last_value: string; is_called: boolean };

export type Piece =
  | { kind: "header"; header: DumpHeader }
  | { kind: "rows"; bytes: Buffer }
  | { kind: "table end"; table: string; rows: number }
  | { kind: "end"; sequences: DumpedSequence[] };

const letters = { header: "H", rows: "R", "table end": "T", end: "E" } as const;

function writePiece(piece: Piece): Buffer {
  const { kind, ...told } = piece;
  const body = piece.kind === "rows" ? piece.bytes : Buffer.from(JSON.stringify(told));
  const head = Buffer.alloc(pieceHeadBytes);
  head.write(letters[kind], "latin1");
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

function readPiece(letter: string, body: Buffer): Piece {
  if (letter === letters.rows) return { kind: "rows", bytes: body };
  const kind = (["header", "table end", "end"] as const).find((each) => letters[each] === letter);
  if (kind === undefined) throw new FileFault("it holds a piece of an unknown kind");
  // Written above; the checksum tells whether it still is what was written.
  return { ...JSON.parse(body.toString()), kind } as Piece;
}

async function* sealed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash("sha256").update(firstLine);
  yield firstLine;
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  yield hash.digest();
}

// The file is whole on the disk when this returns; until then it is nothing.
export async function writeDump(pieces: AsyncIterable<Piece>, path: string, signal: AbortSignal): Promise<number> {
  const file = await open(path, "wx", 0o600);
  const packed = async function* () {
    for await (const piece of pieces) yield writePiece(piece);
  };
  const out = file.createWriteStream({ flush: true });
  await pipeline(packed, createZstdCompress(), sealed, out, { signal });
  return out.bytesWritten;
}

export type ReadProgress = (readBytes: number, fileBytes: number) => void;

// Every piece, in order and of a whole and undamaged file, or this throws. Whoever acts on pieces must be able to take it back
// until the last one has come: only then the checksum is known.
export async function* readDump(path: string, onRead: ReadProgress): AsyncGenerator<Piece, void, undefined> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    await checkFirstLine(file);
    const end = size - digestBytes;
    if (end <= firstLine.length) throw new FileFault("it is cut short");
    const hash = createHash("sha256").update(firstLine);
    const unpacking = createZstdDecompress();
    const feeding = pipeline(readPacked(file, { end, size, hash, onRead }), unpacking);
    // Its failure comes out of what is unpacked as well.
    feeding.catch(() => {});
    yield* inOrder(readPieces(unpacking));
    await feeding;
    const digest = Buffer.alloc(digestBytes);
    await file.read(digest, 0, digestBytes, end);
    if (!digest.equals(hash.digest())) throw new FileFault("its checksum is another");
  } catch (error) {
    throw isOfSystem(error) || error instanceof FileFault ? error : new FileFault("it is damaged", { cause: error });
  } finally {
    await file.close();
  }
}

function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

async function checkFirstLine(file: FileHandle): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
  const start = buffer.subarray(0, bytesRead).toString("latin1");
  const version = new RegExp(`^${opening}(\\d{1,9})\\n`).exec(start)?.[1];
  if (version === undefined) throw new FileFault("it is no backup of casehound");
  if (Number(version) > formatVersion)
    throw new FileFault(`it has the format ${version} of a newer casehound; this one reads up to ${formatVersion}`);
  if (Number(version) !== formatVersion) throw new FileFault(`there is no format ${version}`);
}

type Reading = { end: number; size: number; hash: Hash; onRead: ReadProgress };

async function* readPacked(file: FileHandle, { end, size, hash, onRead }: Reading): AsyncGenerator<Buffer> {
  let read = firstLine.length;
  const chunks = file.createReadStream({ start: firstLine.length, end: end - 1, autoClose: false, highWaterMark: 256 * 1024 });
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    hash.update(chunk);
    read += chunk.length;
    onRead(read, size);
    yield chunk;
  }
}

// What belongs to one piece is put together once, however many chunks it came in.
async function* readPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece> {
  let held: Buffer[] = [];
  let [length, wanted] = [0, pieceHeadBytes];
  for await (const chunk of chunks) {
    held.push(chunk);
    length += chunk.length;
    if (length < wanted) continue;
    let rest = Buffer.concat(held, length);
    for (wanted = wholeLength(rest); rest.length >= wanted; wanted = wholeLength(rest)) {
      yield readPiece(rest.toString("latin1", 0, 1), rest.subarray(pieceHeadBytes, wanted));
      rest = rest.subarray(wanted);
    }
    [held, length] = [[rest], rest.length];
  }
  if (length > 0) throw new FileFault("it ends within a piece");
}

// Of the piece that begins here; of its head alone while that is not there.
function wholeLength(rest: Buffer): number {
  if (rest.length < pieceHeadBytes) return pieceHeadBytes;
  const length = rest.readUInt32BE(1);
  if (length > pieceBytesMax) throw new FileFault("it holds a piece that is too large");
  return pieceHeadBytes + length;
}

// As the header says: these tables, with so many rows each, and an end.
async function* inOrder(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void, undefined> {
  let tables: DumpedTable[] | null = null;
  let hasEnded = false;
  for await (const piece of pieces) {
    const isFirst = tables === null;
    if (hasEnded || isFirst !== (piece.kind === "header")) throw new FileFault("its pieces are out of order");
    if (piece.kind === "header") tables = [...checkHeader(piece.header).tables];
    if (piece.kind === "table end") checkEnd(tables?.shift(), piece);
    if (piece.kind === "rows" && tables?.length === 0) throw new FileFault("it has rows of no table");
    if (piece.kind === "end") hasEnded = true;
    yield piece;
  }
  if (!hasEnded || tables?.length !== 0) throw new FileFault("it has no end");
}

function isDay(day: unknown): boolean {
  return typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day));
}

function isTable({ name, columns }: DumpedTable): boolean {
  return typeof name === "string" && Array.isArray(columns) && columns.length > 0;
}

// The checksum tells that nothing was changed, not who wrote it.
function checkHeader(header: DumpHeader): DumpHeader {
  const isWhole = header.days.every(isDay) && header.tables.every(isTable) && !Number.isNaN(Date.parse(header.made_at));
  const names = new Set(header.tables.map(({ name }) => name));
  if (!isWhole || header.migrations.length === 0 || names.size !== header.tables.length)
    throw new FileFault("its header is not one that casehound writes");
  return header;
}

function checkEnd(told: DumpedTable | undefined, { table, rows }: { table: string; rows: number }): void {
  if (told?.name !== table || told.rows !== rows) throw new FileFault(`its table ${table} is not as its header tells`);
}
