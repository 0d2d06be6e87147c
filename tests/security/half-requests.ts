import net from 'node:net';

/**
 * Opens connections that send half a request and nothing more, and never end themselves, even when the service has ended its
 * side. It is a separate process, because the connections of both sides together may exceed the limit of open files. The test
 * says over IPC how many to open, and gets the number of connections that were answered with 408.
 */
let answered = 0;
process.on('message', ({ base, count }: { base: string; count: number }) => {
  const { port, hostname } = new URL(base);
  for (let n = 0; n < count; n++) {
    const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () =>
      socket.write('GET /version HTTP/1.1\r\nHo'),
    );
    socket.on('error', () => {});
    socket.once('data', (data) => {
      if (String(data).startsWith('HTTP/1.1 408')) process.send?.(++answered);
    });
  }
});
// Exit with the test process, even if it ends early.
process.on('disconnect', () => process.exit());
