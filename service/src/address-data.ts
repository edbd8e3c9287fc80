import { ConfigFault } from "./config.ts";
import { Enrichment } from "./engine/enrichment.ts";

// Opens the address databases that MMDB_FILES lists.
export function openAddressData(files: string[]): Enrichment {
  try {
    return Enrichment.open(files);
  } catch (error) {
    throw new ConfigFault(`MMDB_FILES: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
