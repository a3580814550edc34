<?php
// Laravel's Eloquent: `paginate`, relations by `with`.
require_once 'Illuminate/Database/autoload.php';
require_once 'Illuminate/Pagination/autoload.php';

use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Pagination\Paginator;

$settings = json_decode(getenv('ZOO_SETTINGS'), true);
$variant = $settings['variant'];
date_default_timezone_set('UTC');
$manager = new Manager;
$manager->addConnection([
    'driver' => 'pgsql',
    'host' => $settings['socketFolder'],
    'database' => $settings['database'],
    'username' => 'zoo',
    'timezone' => 'UTC',
]);
$manager->setAsGlobal();
$manager->bootEloquent();
Paginator::currentPageResolver(fn () => max(1, (int) ($_GET['pageNo'] ?? 1)));

class Connection extends Model
{
    public function item(): array
    {
        return ['id' => $this->id, 'name' => $this->name];
    }
}

trait BothConnections
{
    public function source()
    {
        return $this->belongsTo(Connection::class, 'source_connection_id');
    }

    public function destination()
    {
        return $this->belongsTo(Connection::class, 'destination_connection_id');
    }
}

class Export extends Model
{
    use BothConnections;

    public function item(): array
    {
        return [
            'sourceConnection' => $this->source?->item(),
            'sourceDocumentTitle' => $this->source_document_title,
            'sourceDocumentReference' => $this->source_document_reference,
            'sourceDocumentVersion' => $this->source_document_version,
            'sourceDocumentKind' => $this->source_document_kind,
            'destinationConnection' => $this->destination?->item(),
            'destinationReference' => $this->destination_reference,
            'exportedAt' => (new DateTimeImmutable($this->exported_at))->format(DateTimeInterface::RFC3339_EXTENDED),
        ];
    }
}

class Collection extends Model
{
    use BothConnections;

    public function item(): array
    {
        return [
            'id' => $this->id,
            'name' => $this->name,
            'sourceConnection' => $this->source?->item(),
            'destinationConnection' => $this->destination?->item(),
        ];
    }
}

class WebhookEvent extends Model
{
}

class Webhook extends Model
{
    public function events()
    {
        return $this->hasMany(WebhookEvent::class);
    }

    public function connections()
    {
        return $this->belongsToMany(Connection::class, 'webhook_connections');
    }

    public function item(): array
    {
        return [
            'id' => $this->id,
            'endpoint' => $this->endpoint,
            'description' => $this->description,
            'events' => $this->events->pluck('name'),
            'connections' => $this->connections->map(fn ($connection) => $connection->item()),
        ];
    }
}

$webhooks = Webhook::with('events', 'connections')->orderBy('webhooks.id');
// One row for each event.
if ($variant === 'join with events') {
    $webhooks->leftJoin('webhook_events', 'webhook_id', 'webhooks.id')->select('webhooks.*')->distinct();
}
$exports = Export::with('source', 'destination')->orderByDesc('exported_at');
$query = match (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    '/v2/document-exports' => $settings['isOrderedByTimeAlone'] ? $exports : $exports->orderByDesc('id'),
    '/v2/collections' => Collection::with('source', 'destination')->orderBy('id'),
    default => $webhooks,
};
$page = $query->paginate(min(100, (int) ($_GET['pageSize'] ?? 50)));
header('Content-Type: application/json');
echo json_encode([
    'items' => array_map(fn ($row) => $row->item(), $page->items()),
    'pagination' => [
        'pageCount' => $page->lastPage(),
        'pageNo' => $page->currentPage(),
        'pageSize' => $page->perPage(),
        'totalRecordCount' => $page->total(),
    ],
]);
