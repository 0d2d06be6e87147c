import { NetworkError } from '../../client/src/errors.ts';
import { createMethods, createTransport, type TransportOptions } from '../../client/src/methods.ts';
import { markOffline, markOnline } from './connection.ts';
import { getLanguage } from './language.ts';

export { ApiError, isApiError, NetworkError } from '../../client/src/errors.ts';

/** What all clients of the console share. No base URL: the service has the same origin as the page. */
export const clientOptions: TransportOptions = {
  language: () => (getLanguage() === 'zh' ? 'zh-CN' : 'en'),
  onAttempt: (error) => (error ? markOffline() : markOnline()),
};

/** For requests of session.ts, which decides itself what to do when one fails. */
export const clientWithToken = (token: string | undefined) =>
  createMethods(
    createTransport(clientOptions, {
      open: () => ({ token: () => token, renew: (_, error) => Promise.reject(error) }),
    }),
  );

/** A file that the service sent as an attachment. */
export interface DownloadedFile {
  blob: Blob;
  name: string;
}

/** Reads a file. If the service closes the connection before its end, the file is incomplete and must not be saved. */
export async function readFile(response: Response): Promise<DownloadedFile> {
  const attachment = response.headers.get('content-disposition') ?? '';
  const [, name = 'download'] =
    /filename\*=UTF-8''([^;]+)/i.exec(attachment) ?? /filename="([^"]+)"/i.exec(attachment) ?? [];
  try {
    return { blob: await response.blob(), name: decodeURIComponent(name) };
  } catch (error) {
    throw new NetworkError('', { cause: error });
  }
}
