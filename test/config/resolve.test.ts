import { describe, expect, test } from 'vitest';
import * as parse from '../../src/config/parse.ts';
import { proxyFor } from '../../src/config/proxy.ts';
import { type Config, resolveConfig, resolvePublish, resolveService } from '../../src/config/resolve.ts';
import { settings } from '../../src/config/settings.ts';

type Service = 'baseUrl' | 'allowHttp' | 'token' | 'tokenFile' | 'tokenCommand';

/** For each setting of a `Config`: a text, and its value. */
const samples: {
  readonly [Name in Exclude<keyof Config, Service | 'clickhouseUrl'>]: readonly [
    text: string,
    value: Config[Name],
  ];
} = {
  database: ['one.sqlite', 'one.sqlite'],
  query: ['includeArchived=true&tenant=a%20b', 'includeArchived=true&tenant=a%20b'],
  headersFile: ['headers', 'headers'],
  clientCertFile: ['cert.pem', 'cert.pem'],
  clientKeyFile: ['key.pem', 'key.pem'],
  pageSize: ['25', 25],
  concurrency: ['7', 7],
  timeoutMs: ['1234', 1234],
  giveUpAfterMs: ['90s', 90_000],
  maxRequestsPerSecond: ['2.5', 2.5],
  deadlineMs: ['50m', 3_000_000],
  waitMs: ['2m', 120_000],
  trigger: ['cron', 'cron'],
  maxPages: ['10', 10],
  fullEveryMs: ['2h', 7_200_000],
  saveEveryMs: ['500ms', 500],
  maxRemovals: ['12.5%', 0.125],
  keepHistoryMs: ['400d', 34_560_000_000],
  ignoreFields: [
    'webhooks.etag, document-exports.downloadUrl,webhooks.a.b,webhooks.etag',
    { webhooks: ['a.b', 'etag'], 'document-exports': ['downloadUrl'] },
  ],
  actor: ['night shift', 'night shift'],
  signingKeyFile: ['key.pem', 'key.pem'],
  share: ['share.sqlite', 'share.sqlite'],
  shareSql: ['share.sql', 'share.sql'],
  shareWithout: ['history, sourceDocumentTitle,history', ['history', 'sourceDocumentTitle']],
  schedule: ['*/5 * * * *', '*/5 * * * *'],
  timezone: ['Europe/Berlin', 'Europe/Berlin'],
  pingUrl: ['https://hc.example/%c?create=1', 'https://hc.example/%c?create=1'],
  pingSuccessUrl: ['https://hc.example/up', 'https://hc.example/up'],
  pingFailureUrl: ['https://hc.example/down', 'https://hc.example/down'],
  metricsFile: ['acme.prom', 'acme.prom'],
  labels: ['tenant=acme,env=prod', { tenant: 'acme', env: 'prod' }],
  logLevel: ['debug', 'debug'],
  clickhouseUser: ['writer', 'writer'],
  clickhousePassword: ['open sesame', 'open sesame'],
  clickhousePasswordFile: ['password.txt', 'password.txt'],
  clickhouseDatabase: ['mirrors', 'mirrors'],
  tenant: ['acme', 'acme'],
};

// docs/reference.md has the texts of all defaults.
const defaults = {
  database: 'docmirror.sqlite',
  pageSize: null,
  giveUpAfterMs: 600_000,
  maxRemovals: 0.5,
  keepHistoryMs: null,
  ignoreFields: {},
  labels: {},
  tenant: null,
};

const names = Object.keys(samples) as (keyof typeof samples)[];

describe('each setting', () => {
  test.each(names)('%s is what the variable says, and the flag goes before it', name => {
    const { variable } = settings[name];
    const [text, value] = samples[name];
    expect(resolveConfig({}, { [variable]: text })[name]).toEqual(value);
    // A password can begin and end with spaces.
    const spaced = settings[name].kind === 'secret' ? `  ${text} ` : value;
    expect(resolveConfig({}, { [variable]: `  ${text} ` })[name]).toEqual(spaced);
    const flags = { [name]: text };
    expect(resolveConfig(flags, { [variable]: 'not usable \u0000' })[name]).toEqual(value);
  });

  test('has its default if nothing is said, or an empty variable', () => {
    const empty = Object.fromEntries(Object.values(settings).map(({ variable }) => [variable, ' ']));
    expect(resolveConfig({}, {})).toMatchObject(defaults);
    expect(resolveConfig({}, empty)).toMatchObject(defaults);
    expect(resolveConfig({}, {}).actor).not.toBe('');
  });

  test.each(['0 * * * *', '*/10 * * * * *', '@hourly'])('the schedule can be %j', text => {
    expect(resolveConfig({}, { DOCMIRROR_SCHEDULE: text }).schedule).toBe(text);
  });
});

const base = { DOCMIRROR_BASE_URL: 'https://service.example/', DOCMIRROR_TOKEN: 'a-token' };

describe('where the service is', () => {
  test('keeps a path, and drops slashes at the end', () => {
    const service = resolveService(
      {},
      { ...base, DOCMIRROR_BASE_URL: 'https://[2001:db8::1]:8443/api/v1//' },
    );
    expect(service.baseUrl).toBe('https://[2001:db8::1]:8443/api/v1');
  });

  test.each([
    [{ token: 'flag' }, { text: 'flag' }],
    [{ tokenFile: '/flag' }, { file: '/flag' }],
    [{ tokenCommand: 'flag', token: 'flag' }, { command: 'flag' }],
    [{}, { command: 'variable' }],
  ])('with the flags %j the token comes from %j', (flags, token) => {
    const environment = {
      ...base,
      DOCMIRROR_TOKEN_FILE: '/variable',
      DOCMIRROR_TOKEN_COMMAND: 'variable',
    };
    expect(resolveService(flags, environment).token).toMatchObject(token);
  });

  test('can be http only on this machine, or if that is allowed', () => {
    const environment = { ...base, DOCMIRROR_BASE_URL: 'http://service.example' };
    expect(resolveService({ allowHttp: 'true' }, environment).baseUrl).toBe('http://service.example');
    for (const host of ['127.0.0.1', '127.1.2.3', '[::1]', 'localhost']) {
      expect(resolveService({}, { ...base, DOCMIRROR_BASE_URL: `http://${host}` }).baseUrl).toBe(
        `http://${host}`,
      );
    }
  });

  test.each<[what: string, variables: Record<string, string>, said: string]>([
    ['plain http', { DOCMIRROR_BASE_URL: 'http://service.example' }, 'http is for loopback addresses only'],
    ['a name below localhost', { DOCMIRROR_BASE_URL: 'http://a.localhost' }, 'http is for loopback'],
    ['an address with 127 inside', { DOCMIRROR_BASE_URL: 'http://10.127.0.1' }, 'http is for loopback'],
    ['a query', { DOCMIRROR_BASE_URL: 'https://service.example/?a=b' }, 'the address must end before any ?'],
    [
      'a login',
      { DOCMIRROR_BASE_URL: 'https://me:pw@service.example' },
      'not an address without a user name',
    ],
    ['an open proxy', { DOCMIRROR_BASE_URL: 'http://[::1]', http_proxy: 'proxy' }, 'would carry the token'],
    ['certificates in a file without any', { NODE_EXTRA_CA_CERTS: 'package.json' }, 'no certificate in PEM'],
    ['a token that ends a header', { DOCMIRROR_TOKEN: 'a\nb' }, 'characters that no HTTP header can carry'],
  ])('is not taken with %s', (_what, variables, said) => {
    expect(() => resolveService({}, { ...base, ...variables })).toThrow(said);
  });
});

describe('where ClickHouse is', () => {
  const clickhouse = {
    DOCMIRROR_CLICKHOUSE_URL: 'http://127.0.0.1:8123',
    DOCMIRROR_CLICKHOUSE_PASSWORD_FILE: '/nowhere',
    DOCMIRROR_TENANT: 'acme',
  };

  test('a typed password counts before the file of the environment', () => {
    const { password, tenant } = resolvePublish({ clickhousePassword: 'typed' }, clickhouse);
    expect({ password, tenant }).toEqual({ password: 'typed', tenant: 'acme' });
  });

  test('it can not be http elsewhere', () => {
    const environment = { ...clickhouse, DOCMIRROR_CLICKHOUSE_URL: 'http://clickhouse.example:8123' };
    expect(() => resolvePublish({ clickhousePassword: 'typed' }, environment)).toThrow(
      'http is for loopback',
    );
  });
});

describe('a proxy', () => {
  const https = new URL('https://www.service.example/api');

  test.each([
    [{ HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128'],
    [{ https_proxy: 'http://proxy:3128', HTTPS_PROXY: 'http://other' }, 'http://proxy:3128'],
    [{ https_proxy: '', HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128'],
    [{ HTTPS_PROXY: 'https://me:pw@proxy' }, 'https://proxy'],
    [{ HTTP_PROXY: 'http://proxy:3128' }, undefined],
    [{ HTTPS_PROXY: ' ' }, undefined],
  ])('of %j is %s, shown without name and password', (variables, shown) => {
    expect(proxyFor(https, variables)?.shown).toBe(shown);
  });

  test.each([
    ['*', true],
    ['service.example', true],
    ['.service.example', true],
    ['*.service.example', true],
    ['WWW.Service.Example', true],
    ['other.example,  www.service.example', true],
    ['other.example www.service.example:443', true],
    ['www.service.example:8443', false],
    ['vice.example', false],
    ['*.www.service.example', false],
    ['other.example', false],
    [',', false],
    ['', false],
  ])('is not used if NO_PROXY is %j: %s', (list, isExcepted) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      expect(proxyFor(https, { HTTPS_PROXY: 'proxy', [name]: list }) === null).toBe(isExcepted);
    }
  });
});

test.each([
  ['1.005s', 1_005],
  ['4.35m', 261_000],
  ['2.3h', 8_280_000],
  ['0.4ms', 0],
])('a time of %s is whole milliseconds', (text, ms) => {
  expect(parse.lengthOfTime(text)).toBe(ms);
});

test.each(['abc.def_ghi-jkl==', 'dG9rZW4=', 'key=abc', 'ABC='])('%s is a token', text => {
  expect(parse.token(text)).toBe(text);
});

test.each(['*/60 * * * *', '0 */24 * * *', '0 6-20/2 * * 1-5', '*/15 * * * *'])('%s is a schedule', text => {
  expect(parse.schedule(text)).toBe(text);
});

test('a label can have any name but those of log lines and metrics', () => {
  expect(parse.labelPairs('constructor=x')).toEqual({ constructor: 'x' });
  for (const text of ['command=x', 'a=1,a=2', 'a=\u001b[31m', 'a=b\u202ec'])
    expect(() => parse.labelPairs(text)).toThrow(/is there twice, or|expected NAME=VALUE/);
});

test('a setting whose value is a file is a path, and no other is', () => {
  for (const { valueName, kind, variable } of Object.values(settings))
    expect([variable, kind === 'path']).toEqual([variable, valueName === 'FILE']);
});

test('a path is taken as it is typed, and spaces around a word do not count', () => {
  const { database, clickhouseUser } = resolveConfig({ database: ' a ', clickhouseUser: ' b ' }, {});
  expect([database, clickhouseUser]).toEqual([' a ', 'b']);
});

test('a password keeps its spaces, whether a flag or the environment gives it', () => {
  const password = ' with spaces ';
  expect(resolveConfig({}, { DOCMIRROR_CLICKHOUSE_PASSWORD: password }).clickhousePassword).toBe(password);
  expect(resolveConfig({ clickhousePassword: password }, {}).clickhousePassword).toBe(password);
});
