# Flask-SQLAlchemy: `db.paginate` with joined relations, as its guide teaches.
import json
import os

from flask import Flask, jsonify, request
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import joinedload

settings = json.loads(os.environ['ZOO_SETTINGS'])
variant = settings['variant']
app = Flask(__name__)
app.config['SQLALCHEMY_DATABASE_URI'] = 'postgresql://'
app.config['SQLALCHEMY_ENGINE_OPTIONS'] = {
    'connect_args': {
        'host': settings['socketFolder'],
        'user': 'zoo',
        'dbname': settings['database'],
        'options': '-c timezone=UTC',
    }
}
db = SQLAlchemy(app)
text = db.String


class Connection(db.Model):
    __tablename__ = 'connections'
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(text)

    def item(self):
        return {'id': self.id, 'name': self.name}


class Export(db.Model):
    __tablename__ = 'exports'
    id = db.Column(db.Integer, primary_key=True)
    source_connection_id = db.Column(db.ForeignKey('connections.id'))
    destination_connection_id = db.Column(db.ForeignKey('connections.id'))
    source_document_title = db.Column(text)
    source_document_reference = db.Column(text)
    source_document_version = db.Column(text)
    source_document_kind = db.Column(text)
    destination_reference = db.Column(text)
    exported_at = db.Column(db.DateTime(timezone=True))
    source = db.relationship(Connection, foreign_keys=[source_connection_id], lazy='joined')
    destination = db.relationship(Connection, foreign_keys=[destination_connection_id], lazy='joined')

    def item(self):
        return {
            'sourceConnection': self.source and self.source.item(),
            'sourceDocumentTitle': self.source_document_title,
            'sourceDocumentReference': self.source_document_reference,
            'sourceDocumentVersion': self.source_document_version,
            'sourceDocumentKind': self.source_document_kind,
            'destinationConnection': self.destination and self.destination.item(),
            'destinationReference': self.destination_reference,
            'exportedAt': self.exported_at.isoformat(),
        }


class Collection(db.Model):
    __tablename__ = 'collections'
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(text)
    source_connection_id = db.Column(db.ForeignKey('connections.id'))
    destination_connection_id = db.Column(db.ForeignKey('connections.id'))
    source = db.relationship(Connection, foreign_keys=[source_connection_id], lazy='joined')
    destination = db.relationship(Connection, foreign_keys=[destination_connection_id], lazy='joined')

    def item(self):
        return {
            'id': self.id,
            'name': self.name,
            'sourceConnection': self.source and self.source.item(),
            'destinationConnection': self.destination and self.destination.item(),
        }


links = db.Table(
    'webhook_connections',
    db.Column('webhook_id', db.ForeignKey('webhooks.id'), primary_key=True),
    db.Column('connection_id', db.ForeignKey('connections.id'), primary_key=True),
)


class Event(db.Model):
    __tablename__ = 'webhook_events'
    id = db.Column(db.Integer, primary_key=True)
    webhook_id = db.Column(db.ForeignKey('webhooks.id'))
    name = db.Column(text)


class Webhook(db.Model):
    __tablename__ = 'webhooks'
    id = db.Column(db.Integer, primary_key=True)
    endpoint = db.Column(text)
    description = db.Column(text)
    events = db.relationship(Event)
    connections = db.relationship(Connection, secondary=links)

    def item(self):
        return {
            'id': self.id,
            'endpoint': self.endpoint,
            'description': self.description,
            'events': [event.name for event in self.events],
            'connections': [connection.item() for connection in self.connections],
        }


def page(query):
    found = db.paginate(
        query,
        page=request.args.get('pageNo', 1, type=int),
        per_page=request.args.get('pageSize', 50, type=int),
        max_per_page=100,
    )
    pagination = {
        'pageCount': found.pages,
        'pageNo': found.page,
        'pageSize': found.per_page,
        'totalRecordCount': found.total,
    }
    return jsonify(items=[row.item() for row in found.items], pagination=pagination)


@app.get('/v2/document-exports')
def exports():
    query = db.select(Export).order_by(Export.exported_at.desc())
    return page(query if settings['isOrderedByTimeAlone'] else query.order_by(Export.id.desc()))


@app.get('/v2/collections')
def collections():
    return page(db.select(Collection).order_by(Collection.id))


@app.get('/v2/webhooks')
def webhooks():
    query = db.select(Webhook)
    if variant == 'join with events':
        # One row for each event.
        return page(query.outerjoin(Webhook.events).order_by(Webhook.id))
    related = joinedload(Webhook.events), joinedload(Webhook.connections)
    return page(query.options(*related).order_by(Webhook.id))


app.run('127.0.0.1', settings['port'], threaded=True)
