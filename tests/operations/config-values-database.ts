import path from 'node:path';
import type { ExpectedValues } from './config-values.ts';

/** Values of the settings for the listener, the database and its backups. */
export const databaseSettings = {
  PORT: {
    unset: ['port', 8080],
    valid: [
      ['0', 0],
      ['80', 80],
      ['65535', 65535],
      [' 9000 ', 9000],
    ],
    invalid: ['-1', '65536', '80.5', 'http', '0x50', '1e3', '8080;', '8 0', '１'],
  },
  HOST: {
    unset: ['host', '127.0.0.1'],
    valid: [
      ['0.0.0.0', '0.0.0.0'],
      ['::', '::'],
      ['banyan.internal', 'banyan.internal'],
    ],
    invalid: ['http://localhost', 'a b', 'localhost:8080', '10.0.0.1/8'],
  },
  BANYAN_ISSUER: {
    unset: ['issuer', ''],
    valid: [
      ['https://org.example.com', 'https://org.example.com'],
      ['http://10.0.0.7:8080', 'http://10.0.0.7:8080'],
      ['https://example.com/banyan', 'https://example.com/banyan'],
    ],
    invalid: [
      'org.example.com',
      'ftp://org.example.com',
      'https://org.example.com/',
      'https://Org.example.com',
      'https://org.example.com:443',
      'https://org.example.com?a',
      'https://org.example.com#a',
      'https://me@org.example.com',
    ],
  },
  BANYAN_WORKERS: {
    unset: ['workers', 1],
    valid: [
      ['2', 2],
      ['8', 8],
    ],
    invalid: ['0', '9', '1.5', 'two', '-1'],
  },
  DATABASE_URL: {
    unset: ['databaseUrl', ''],
    valid: [
      'postgres://u:secret-word@h:5432/d',
      'postgresql://h/d',
      'postgres://u:secret-word@localhost/d?host=%2Frun%2Fpostgresql',
      'postgres://u@%2Frun%2Fpostgresql/d',
      'postgres://u:secret-word@h1:5432,h2:5433/d?target_session_attrs=read-write',
      'postgres://u:secret-word@h1,[::1]:5433,10.0.0.1/d?sslmode=require',
      'postgres://u:secret-word@h/d?target_session_attrs=primary',
    ].map((url) => [url, url]),
    invalid: [
      'secret-word',
      'mysql://u:secret-word@h/d',
      'postgres://',
      'postgres:/u:secret-word@h/d',
      'http://u:secret-word@h/d',
      // Characters that must be percent-encoded in a URL.
      'postgres://u:secret-word#1@h/d',
      'postgres://u:secret-word%@h/d',
      'postgres://u:secret-word@h:port/d',
      'postgres://u:secret-word@h1,/d',
      'postgres://u:secret-word@h1:port,h2/d',
      'postgres://u:secret-word@h1,h2/d?host=%2Frun%2Fpostgresql',
      'postgres://u:secret-word@h/d?host=h1,h2',
      // Reading from replicas is not offered.
      'postgres://u:secret-word@h1,h2/d?target_session_attrs=standby',
      'postgres://u:secret-word@h1,h2/d?target_session_attrs=prefer-standby',
    ],
  },
  BANYAN_DATA_DIR: {
    unset: ['dataDir', path.resolve('data')],
    valid: [
      ['/var/lib/banyan', '/var/lib/banyan'],
      ['there/../here', path.resolve('here')],
    ],
    // Any text is a path.
    invalid: [],
  },
  BANYAN_WAL_ARCHIVE: {
    unset: ['walArchive', ''],
    valid: [['/srv/wal', '/srv/wal']],
    invalid: ['./data', 'data/wal', './data/../data/postgres'],
  },
  BANYAN_BACKUP_FOLDER: {
    unset: ['backupFolder', ''],
    valid: [
      ['/srv/backups', '/srv/backups'],
      ['./data.backups', path.resolve('data.backups')],
    ],
    invalid: ['./data', 'data/backups', 'data/..backups'],
  },
  BANYAN_BACKUP_EVERY_HOURS: {
    unset: ['backupEveryHours', 24],
    valid: [
      ['1', 1],
      ['720', 720],
    ],
    invalid: ['0', '721', '1.5', 'daily'],
  },
  BANYAN_BACKUP_KEEP: {
    unset: ['backupKeep', 7],
    valid: [
      ['1', 1],
      ['1000', 1_000],
    ],
    invalid: ['0', '1001', '-1', 'all'],
  },
} satisfies ExpectedValues;
