# Django REST framework: generic list views with PageNumberPagination.
import json
import os

import django
from django.apps import AppConfig
from django.conf import settings as django_settings


class Zoo(AppConfig):
    name = '__main__'
    label = 'zoo'


settings = json.loads(os.environ['ZOO_SETTINGS'])
variant = settings['variant']
django_settings.configure(
    SECRET_KEY='zoo',
    ALLOWED_HOSTS=['127.0.0.1'],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    TIME_ZONE='UTC',
    INSTALLED_APPS=['rest_framework', '__main__.Zoo'],
    MIDDLEWARE=[],
    DATABASES={
        'default': {
            'ENGINE': 'django.db.backends.postgresql',
            'HOST': settings['socketFolder'],
            'USER': 'zoo',
            'NAME': settings['database'],
            'CONN_MAX_AGE': 60,
        }
    },
    REST_FRAMEWORK={
        'DEFAULT_AUTHENTICATION_CLASSES': [],
        'UNAUTHENTICATED_USER': None,
        'DEFAULT_RENDERER_CLASSES': ['rest_framework.renderers.JSONRenderer'],
    },
)
django.setup()

from django.core.paginator import Paginator
from django.core.servers.basehttp import WSGIServer, run
from django.core.wsgi import get_wsgi_application
from django.db import models
from django.urls import path
from rest_framework import generics, serializers
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response


def one_connection():
    return models.ForeignKey('Connection', models.CASCADE, null=True, related_name='+')


def text():
    return models.CharField(max_length=200, null=True)


class Connection(models.Model):
    name = text()

    class Meta:
        app_label = 'zoo'
        db_table = 'connections'


class Export(models.Model):
    source_connection = one_connection()
    source_document_title = text()
    source_document_reference = text()
    source_document_version = text()
    source_document_kind = text()
    destination_connection = one_connection()
    destination_reference = text()
    exported_at = models.DateTimeField()

    class Meta:
        app_label = 'zoo'
        db_table = 'exports'


class Collection(models.Model):
    name = text()
    source_connection = one_connection()
    destination_connection = one_connection()

    class Meta:
        app_label = 'zoo'
        db_table = 'collections'


class Webhook(models.Model):
    endpoint = text()
    description = text()
    connections = models.ManyToManyField(Connection, through='Link')

    class Meta:
        app_label = 'zoo'
        db_table = 'webhooks'


class Link(models.Model):
    # The table has no id; Django needs one column to call the key.
    webhook = models.ForeignKey(Webhook, models.CASCADE, primary_key=True)
    connection = models.ForeignKey(Connection, models.CASCADE)

    class Meta:
        app_label = 'zoo'
        db_table = 'webhook_connections'


class Event(models.Model):
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name='events')
    name = text()

    class Meta:
        app_label = 'zoo'
        db_table = 'webhook_events'


class ConnectionItem(serializers.ModelSerializer):
    class Meta:
        model = Connection
        fields = ['id', 'name']


class ExportItem(serializers.Serializer):
    sourceConnection = ConnectionItem(source='source_connection')
    sourceDocumentTitle = serializers.CharField(source='source_document_title')
    sourceDocumentReference = serializers.CharField(source='source_document_reference')
    sourceDocumentVersion = serializers.CharField(source='source_document_version')
    sourceDocumentKind = serializers.CharField(source='source_document_kind')
    destinationConnection = ConnectionItem(source='destination_connection')
    destinationReference = serializers.CharField(source='destination_reference')
    exportedAt = serializers.DateTimeField(source='exported_at')


class CollectionItem(serializers.Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()
    sourceConnection = ConnectionItem(source='source_connection')
    destinationConnection = ConnectionItem(source='destination_connection')


class WebhookItem(serializers.Serializer):
    id = serializers.IntegerField()
    endpoint = serializers.CharField()
    description = serializers.CharField()
    events = serializers.SlugRelatedField(many=True, read_only=True, slug_field='name')
    connections = ConnectionItem(many=True)


class Orphans(Paginator):
    def __init__(self, rows, size, **more):
        super().__init__(rows, size, orphans=40, **more)


class Pages(PageNumberPagination):
    page_query_param = 'pageNo'
    page_size_query_param = 'pageSize'
    page_size = 50
    max_page_size = 100
    django_paginator_class = Orphans if variant == 'orphans' else Paginator

    def get_paginated_response(self, items):
        paginator = self.page.paginator
        pagination = {
            'pageCount': paginator.num_pages,
            'pageNo': self.page.number,
            'pageSize': paginator.per_page,
            'totalRecordCount': paginator.count,
        }
        return Response({'items': items, 'pagination': pagination})


both = 'source_connection', 'destination_connection'
webhooks = Webhook.objects.prefetch_related('events', 'connections').order_by('id')
if variant == 'filter by events':
    # One row for each event.
    webhooks = webhooks.filter(models.Q(events__isnull=True) | models.Q(events__name__contains='.'))
lists = {
    'document-exports': (
        Export.objects.select_related(*both).order_by(
            *(['-exported_at'] if settings['isOrderedByTimeAlone'] else ['-exported_at', '-id'])
        ),
        ExportItem,
    ),
    'collections': (Collection.objects.select_related(*both).order_by('id'), CollectionItem),
    'webhooks': (webhooks, WebhookItem),
}
urlpatterns = [
    path(f'v2/{name}', generics.ListAPIView.as_view(queryset=rows, serializer_class=item, pagination_class=Pages))
    for name, (rows, item) in lists.items()
]
run('127.0.0.1', settings['port'], get_wsgi_application(), threading=True, server_cls=WSGIServer)
