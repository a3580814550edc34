# Builds with: docker build -t docmirror .
# A tag moves on. A release names the very image, by its digest: --build-arg NODE_IMAGE=node:24-slim@sha256:… (CONTRIBUTING.md).
ARG NODE_IMAGE=node:24-slim

# No package in here needs an install script: better-sqlite3 brings its binaries, and the image brings Node.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY build build
COPY src src
COPY examples examples
RUN npm run build

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
ARG NODE_IMAGE
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="docmirror" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/${NODE_IMAGE}" \
      org.opencontainers.image.documentation="docs/running.md" \
      org.opencontainers.image.description="Keeps a complete, provable copy of a Document Export Service in one SQLite file." \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY migrations migrations

# The mirror outlives the container; a new volume takes over the folder's owner.
RUN mkdir /data && chown node:node /data
VOLUME /data
ENV NODE_ENV=production \
    DOCMIRROR_DATABASE=/data/docmirror.sqlite
USER node

# For containers that sync; a watch and a server are asked at their own /healthz (deploy/compose.yaml).
# Docker knows 0 and 1 only; docmirror itself says 4 where a list is stale.
HEALTHCHECK --interval=5m --timeout=30s --start-period=1h --retries=2 \
  CMD node /app/dist/cli.js status --max-age 26h || exit 1

# It starts no other process but a command that prints the token, which it ends itself, and handles SIGTERM and SIGINT, so it
# may be PID 1 as it is. With `--`, Node leaves --env-file to docmirror; without its debugger, SIGUSR1 does nothing from the
# first moment on. It writes to /data alone: the rest may be read-only.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--disable-sigusr1", "--", "/app/dist/cli.js"]
CMD ["sync"]
