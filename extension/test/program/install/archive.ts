// Makes zip archives, as wheels are.

import { crc32, deflateRawSync } from "node:zlib";

export interface Packed {
  path: string;
  content: Buffer;
  /** As zip numbers them: 8 is deflated, 0 is stored. */
  method?: number;
}

export function zip(files: Packed[]): Buffer {
  const pieces: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const { path, content, method = 8 } of files) {
    const name = Buffer.from(path);
    const data = method === 8 ? deflateRawSync(content, { level: 1 }) : content;
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(method, 4);
    about.writeUInt32LE(crc32(content), 10);
    about.writeUInt32LE(data.length, 14);
    about.writeUInt32LE(content.length, 18);
    about.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), about, name]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(0o755 << 16, 6);
    rest.writeUInt32LE(at, 10);
    entries.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), about, rest, name]));
    pieces.push(local, data);
    at += local.length + data.length;
  }
  const list = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...pieces, list, end]);
}
