import { createHash, type Hash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import type { AppliedMigration } from "../postgres/migrate.ts";

// The format of a backup file: a line that names the format, zstd-compressed pieces, and the SHA-256 of everything before it. The
// pieces are one header, the rows of each table as COPY writes them followed by a table end with their count, and one final end.
export class BackupFault extends Error {}
// The file itself is invalid. In the messages, "it" is the file.
export class FileFault extends BackupFault {}

const formatVersion = 1;
const opening = "casehound backup ";
const firstLine = Buffer.from(`${opening}${formatVersion}\n`);
const digestBytes = 32;
const pieceHeadBytes = 5;
// Pieces with rows are small, because each holds one chunk from the network. Only a header with very many tables is large.
const pieceBytesMax = 16 * 1024 ** 2;

export type DumpedTable = { name: string; columns: string[]; rows: number };
export type DumpHeader = {
  made_at: string;
  migrations: AppliedMigration[];
  // The days for which `activities` has a partition.
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
  if (kind === undefined) throw new FileFault("it contains a piece of an unknown kind");
  // The cast is safe: this file wrote the piece, and the checksum shows whether it was changed.
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

// When this returns, the file is complete and on disk. Until then, it is not a valid backup.
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

// Yields every piece in order, and throws if the file is incomplete or damaged. The checksum is known only after the last piece,
// so until then the caller must be able to undo everything.
export async function* readDump(path: string, onRead: ReadProgress): AsyncGenerator<Piece, void, undefined> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    await checkFirstLine(file);
    const end = size - digestBytes;
    if (end <= firstLine.length) throw new FileFault("it is truncated");
    const hash = createHash("sha256").update(firstLine);
    const unpacking = createZstdDecompress();
    const feeding = pipeline(readPacked(file, { end, size, hash, onRead }), unpacking);
    // Its failure also surfaces through the decompressed stream.
    feeding.catch(() => {});
    yield* inOrder(readPieces(unpacking));
    await feeding;
    const digest = Buffer.alloc(digestBytes);
    await file.read(digest, 0, digestBytes, end);
    if (!digest.equals(hash.digest())) throw new FileFault("its checksum does not match");
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
  if (version === undefined) throw new FileFault("it is not a casehound backup");
  if (Number(version) > formatVersion)
    throw new FileFault(`it has format ${version} of a newer casehound; this one reads up to format ${formatVersion}`);
  if (Number(version) !== formatVersion) throw new FileFault(`its format ${version} does not exist`);
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

// The bytes of one piece are concatenated once, however many chunks they came in.
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
  if (length > 0) throw new FileFault("it ends in the middle of a piece");
}

// The length of the piece that begins here, or of its head alone while that is incomplete.
function wholeLength(rest: Buffer): number {
  if (rest.length < pieceHeadBytes) return pieceHeadBytes;
  const length = rest.readUInt32BE(1);
  if (length > pieceBytesMax) throw new FileFault("it contains a piece that is too large");
  return pieceHeadBytes + length;
}

// Checks that the pieces match the header: these tables, each with its number of rows, and an end.
async function* inOrder(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void, undefined> {
  let tables: DumpedTable[] | null = null;
  let hasEnded = false;
  for await (const piece of pieces) {
    const isFirst = tables === null;
    if (hasEnded || isFirst !== (piece.kind === "header")) throw new FileFault("its pieces are out of order");
    if (piece.kind === "header") tables = [...checkHeader(piece.header).tables];
    if (piece.kind === "table end") checkEnd(tables?.shift(), piece);
    if (piece.kind === "rows" && tables?.length === 0) throw new FileFault("it has rows that belong to no table");
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

// The checksum proves that nothing was changed, not who wrote the file.
function checkHeader(header: DumpHeader): DumpHeader {
  const isWhole = header.days.every(isDay) && header.tables.every(isTable) && !Number.isNaN(Date.parse(header.made_at));
  const names = new Set(header.tables.map(({ name }) => name));
  if (!isWhole || header.migrations.length === 0 || names.size !== header.tables.length)
    throw new FileFault("its header was not written by casehound");
  return header;
}

function checkEnd(told: DumpedTable | undefined, { table, rows }: { table: string; rows: number }): void {
  if (told?.name !== table || told.rows !== rows) throw new FileFault(`its table ${table} does not match its header`);
}
