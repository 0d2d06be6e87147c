import { IncomingMessage } from 'node:http';

/** Shorter chunks are merged, into chunks of at most this size. */
const MERGED_BYTES = 2_048;

/**
 * A request that merges the tiny chunks of its body. Fastify collects all chunks of a body, and each takes more than a hundred
 * bytes of memory: a body of a megabyte that is sent byte by byte would take more than a hundred megabytes.
 */
export class MergingRequest extends IncomingMessage {
  /** A short chunk that has not been passed on or, if `used` is above 0, the buffer into which several were merged. */
  private held: Buffer | undefined = undefined;
  /** How many bytes of that buffer are filled. */
  private used = 0;

  /** Node calls this with each chunk, and with null at the end of the body. */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length >= MERGED_BYTES) {
      this.passOn();
      return super.push(chunk);
    }
    if (this.held === undefined) {
      // Most bodies have only one chunk, which is not copied.
      this.held = chunk;
      return true;
    }
    if (this.used === 0) {
      const merged = Buffer.allocUnsafe(MERGED_BYTES);
      this.used = this.held.copy(merged);
      this.held = merged;
    }
    if (this.used + chunk.length > MERGED_BYTES) {
      const wantsMore = this.passOn();
      this.held = chunk;
      return wantsMore;
    }
    this.used += chunk.copy(this.held, this.used);
    return true;
  }

  private passOn(): boolean {
    const { held, used } = this;
    if (held === undefined) return true;
    this.held = undefined;
    this.used = 0;
    return super.push(used > 0 ? held.subarray(0, used) : held);
  }
}
