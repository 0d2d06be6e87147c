type Print = (line: string) => void;

/** Runs an export or import. Returns the exit code: 0 for success, 1 for a mistake in the arguments, 2 for any other error. */
export async function runTransfer(
  verb: 'exported' | 'imported',
  work: (print: Print) => Promise<string | undefined>,
): Promise<number> {
  const print: Print = (line) => void process.stderr.write(`${line}\n`);
  try {
    const mistake = await work(print);
    if (mistake === undefined) return 0;
    print(mistake);
    return 1;
  } catch (error) {
    print(`The data could not be ${verb}: ${(error as Error).message.replace(/\.$/, '')}.`);
    return String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS') ? 1 : 2;
  }
}
