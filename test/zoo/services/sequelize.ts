import {
  DataTypes,
  type FindAndCountOptions,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type ModelStatic,
  type NonAttribute,
  Sequelize,
} from 'sequelize';
import { type Asked, type ConnectionRow, type Found, serve, settings } from '../service.ts';

// Sequelize: findAndCountAll with `include`, and `distinct` if there are several rows for a record.

const { socketFolder, database, isOrderedByTimeAlone, variant } = settings();

const sequelize = new Sequelize({
  dialect: 'postgres',
  host: socketFolder,
  username: 'zoo',
  database,
  logging: false,
  define: { timestamps: false, underscored: true },
});

class Connection extends Model<InferAttributes<Connection>, InferCreationAttributes<Connection>> {
  declare id: number;
  declare name: string | null;
}

class Export extends Model<InferAttributes<Export>, InferCreationAttributes<Export>> {
  declare id: number;
  declare sourceConnection: NonAttribute<ConnectionRow | null>;
  declare sourceDocumentTitle: string | null;
  declare sourceDocumentReference: string | null;
  declare sourceDocumentVersion: string | null;
  declare sourceDocumentKind: string | null;
  declare destinationConnection: NonAttribute<ConnectionRow | null>;
  declare destinationReference: string | null;
  declare exportedAt: Date;
}

class Collection extends Model<InferAttributes<Collection>, InferCreationAttributes<Collection>> {
  declare id: number;
  declare name: string | null;
  declare sourceConnection: NonAttribute<ConnectionRow | null>;
  declare destinationConnection: NonAttribute<ConnectionRow | null>;
}

class Event extends Model<InferAttributes<Event>, InferCreationAttributes<Event>> {
  declare id: number;
  declare name: string | null;
}

class Webhook extends Model<InferAttributes<Webhook>, InferCreationAttributes<Webhook>> {
  declare id: number;
  declare endpoint: string | null;
  declare description: string | null;
  declare events: NonAttribute<Event[]>;
  declare connections: NonAttribute<ConnectionRow[]>;
}

const { INTEGER, STRING, DATE } = DataTypes;
// Sequelize writes into these: two models must not have the same one.
const id = () => ({ type: INTEGER, primaryKey: true });
Connection.init({ id: id(), name: STRING }, { sequelize, tableName: 'connections' });
Export.init(
  {
    id: id(),
    sourceDocumentTitle: STRING,
    sourceDocumentReference: STRING,
    sourceDocumentVersion: STRING,
    sourceDocumentKind: STRING,
    destinationReference: STRING,
    exportedAt: DATE,
  },
  { sequelize, tableName: 'exports' },
);
Collection.init({ id: id(), name: STRING }, { sequelize, tableName: 'collections' });
Event.init({ id: id(), name: STRING }, { sequelize, tableName: 'webhook_events' });
Webhook.init({ id: id(), endpoint: STRING, description: STRING }, { sequelize, tableName: 'webhooks' });
Export.belongsTo(Connection, { as: 'sourceConnection', foreignKey: 'source_connection_id' });
Export.belongsTo(Connection, { as: 'destinationConnection', foreignKey: 'destination_connection_id' });
Collection.belongsTo(Connection, { as: 'sourceConnection', foreignKey: 'source_connection_id' });
Collection.belongsTo(Connection, { as: 'destinationConnection', foreignKey: 'destination_connection_id' });
Webhook.hasMany(Event, { as: 'events', foreignKey: 'webhook_id' });
Webhook.belongsToMany(Connection, {
  as: 'connections',
  through: 'webhook_connections',
  foreignKey: 'webhook_id',
  otherKey: 'connection_id',
});

const include = ['sourceConnection', 'destinationConnection'];

serve({
  exports: paged(Export, {
    include,
    order: isOrderedByTimeAlone
      ? [['exportedAt', 'DESC']]
      : [
          ['exportedAt', 'DESC'],
          ['id', 'DESC'],
        ],
  }),
  collections: paged(Collection, { include, order: ['id'] }),
  webhooks: paged(Webhook, {
    include: ['events', 'connections'],
    order: ['id'],
    distinct: variant !== 'no distinct',
  }),
});

function paged<Row extends Model>(model: ModelStatic<Row>, options: Omit<FindAndCountOptions, 'group'>) {
  return async ({ pageNo = 1, pageSize }: Asked): Promise<Found<Row>> => {
    const { rows, count } = await model.findAndCountAll({
      ...options,
      limit: pageSize,
      offset: (pageNo - 1) * pageSize,
    });
    return { rows, total: count, pageNo };
  };
}
