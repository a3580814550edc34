# Rails' ActiveRecord with Kaminari: `page` and `per`, relations by `includes`.
require 'json'
require 'logger'
require 'webrick'
require 'active_record'
require 'active_support/all'
require 'kaminari/core'
require 'kaminari/activerecord'

settings = JSON.parse(ENV.fetch('ZOO_SETTINGS'))
variant = settings['variant']
Kaminari.configure do |config|
  config.default_per_page = 50
  config.max_per_page = 100
end
Time.zone_default = ActiveSupport::TimeZone['UTC']
ActiveRecord::Base.time_zone_aware_attributes = true
ActiveRecord::Base.establish_connection(
  adapter: 'postgresql', host: settings['socketFolder'], username: 'zoo', database: settings['database'], pool: 10
)

class Connection < ActiveRecord::Base
  def item = { id: id, name: name }
end

class Export < ActiveRecord::Base
  belongs_to :source_connection, class_name: 'Connection'
  belongs_to :destination_connection, class_name: 'Connection'

  def item
    {
      sourceConnection: source_connection&.item,
      sourceDocumentTitle: source_document_title,
      sourceDocumentReference: source_document_reference,
      sourceDocumentVersion: source_document_version,
      sourceDocumentKind: source_document_kind,
      destinationConnection: destination_connection&.item,
      destinationReference: destination_reference,
      exportedAt: exported_at
    }
  end
end

class Collection < ActiveRecord::Base
  belongs_to :source_connection, class_name: 'Connection', optional: true
  belongs_to :destination_connection, class_name: 'Connection', optional: true

  def item
    { id: id, name: name, sourceConnection: source_connection&.item, destinationConnection: destination_connection&.item }
  end
end

class WebhookEvent < ActiveRecord::Base
end

class Webhook < ActiveRecord::Base
  has_many :webhook_events
  has_and_belongs_to_many :connections, join_table: 'webhook_connections'

  def item
    { id: id, endpoint: endpoint, description: description, events: webhook_events.map(&:name), connections: connections.map(&:item) }
  end
end

both = %i[source_connection destination_connection]
webhooks = Webhook.includes(:webhook_events, :connections)
lists = {
  '/v2/document-exports' =>
    Export.includes(*both).order(settings['isOrderedByTimeAlone'] ? { exported_at: :desc } : { exported_at: :desc, id: :desc }),
  '/v2/collections' => Collection.includes(*both).order(:id),
  '/v2/webhooks' =>
    case variant
    # A webhook has several events, so it comes at several places of this order.
    when 'order by an event' then webhooks.references(:webhook_events).order('webhook_events.name')
    # One row for each event.
    when 'left_joins' then Webhook.left_joins(:webhook_events).order(:id)
    else webhooks.order(:id)
    end
}
server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: settings['port'], AccessLog: [], Logger: WEBrick::Log.new(nil, 0))
server.mount_proc('/') do |request, response|
  ActiveRecord::Base.connection_pool.with_connection do
    page = lists.fetch(request.path).page(request.query['pageNo']).per(request.query['pageSize'] || 50)
    response['Content-Type'] = 'application/json'
    response.body = ActiveSupport::JSON.encode(
      items: page.map(&:item),
      pagination: {
        pageCount: page.total_pages, pageNo: page.current_page, pageSize: page.limit_value, totalRecordCount: page.total_count
      }
    )
  end
end
server.start
