<?php
// Doctrine's Paginator over a query with fetch joins.
require_once 'Doctrine/ORM/autoload.php';
require_once 'Symfony/Component/Cache/autoload.php';

use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Tools\Pagination\Paginator;

$settings = json_decode(getenv('ZOO_SETTINGS'), true);
$variant = $settings['variant'];

#[ORM\Entity, ORM\Table('connections')]
class Connection
{
    #[ORM\Id, ORM\Column]
    public int $id;
    #[ORM\Column]
    public ?string $name;

    public function item(): array
    {
        return ['id' => $this->id, 'name' => $this->name];
    }
}

trait BothConnections
{
    #[ORM\ManyToOne(targetEntity: Connection::class), ORM\JoinColumn('source_connection_id')]
    public ?Connection $source;
    #[ORM\ManyToOne(targetEntity: Connection::class), ORM\JoinColumn('destination_connection_id')]
    public ?Connection $destination;
}

#[ORM\Entity, ORM\Table('exports')]
class Export
{
    use BothConnections;

    #[ORM\Id, ORM\Column]
    public int $id;
    #[ORM\Column('source_document_title')]
    public ?string $title;
    #[ORM\Column('source_document_reference')]
    public ?string $reference;
    #[ORM\Column('source_document_version')]
    public ?string $version;
    #[ORM\Column('source_document_kind')]
    public ?string $kind;
    #[ORM\Column('destination_reference')]
    public ?string $destinationReference;
    #[ORM\Column('exported_at', type: 'string')]
    public string $exportedAt;

    public function item(): array
    {
        $time = (new DateTimeImmutable($this->exportedAt))->setTimezone(new DateTimeZone('UTC'));
        return [
            'sourceConnection' => $this->source?->item(),
            'sourceDocumentTitle' => $this->title,
            'sourceDocumentReference' => $this->reference,
            'sourceDocumentVersion' => $this->version,
            'sourceDocumentKind' => $this->kind,
            'destinationConnection' => $this->destination?->item(),
            'destinationReference' => $this->destinationReference,
            'exportedAt' => $time->format(DateTimeInterface::RFC3339_EXTENDED),
        ];
    }
}

#[ORM\Entity, ORM\Table('collections')]
class Collection
{
    use BothConnections;

    #[ORM\Id, ORM\Column]
    public int $id;
    #[ORM\Column]
    public ?string $name;

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

#[ORM\Entity, ORM\Table('webhook_events')]
class Event
{
    #[ORM\Id, ORM\Column]
    public int $id;
    #[ORM\Column]
    public ?string $name;
    #[ORM\ManyToOne(targetEntity: Webhook::class, inversedBy: 'events'), ORM\JoinColumn('webhook_id')]
    public ?Webhook $webhook;
}

#[ORM\Entity, ORM\Table('webhooks')]
class Webhook
{
    #[ORM\Id, ORM\Column]
    public int $id;
    #[ORM\Column]
    public ?string $endpoint;
    #[ORM\Column]
    public ?string $description;
    #[ORM\OneToMany(mappedBy: 'webhook', targetEntity: Event::class)]
    public $events;
    #[ORM\ManyToMany(targetEntity: Connection::class)]
    #[ORM\JoinTable('webhook_connections'), ORM\JoinColumn('webhook_id'), ORM\InverseJoinColumn('connection_id')]
    public $connections;

    public function item(): array
    {
        return [
            'id' => $this->id,
            'endpoint' => $this->endpoint,
            'description' => $this->description,
            'events' => $this->events->map(fn ($event) => $event->name)->getValues(),
            'connections' => $this->connections->map(fn ($connection) => $connection->item())->getValues(),
        ];
    }
}

$manager = EntityManager::create([
    'driver' => 'pdo_pgsql',
    'host' => $settings['socketFolder'],
    'user' => 'zoo',
    // It writes the name into a connection string as it is, and this one has a space.
    'dbname' => "'{$settings['database']}'",
    'serverVersion' => '15',
], ORMSetup::createAttributeMetadataConfiguration([__DIR__], true));
$both = 'LEFT JOIN row.source source LEFT JOIN row.destination destination';
$byTime = $settings['isOrderedByTimeAlone'] ? 'row.exportedAt DESC' : 'row.exportedAt DESC, row.id DESC';
// A webhook has several events, so it comes at several places of the order by their name.
$webhookOrder = $variant === 'order by an event' ? 'event.name' : 'row.id';
$query = match (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
    '/v2/document-exports' => "SELECT row, source, destination FROM Export row $both ORDER BY $byTime",
    '/v2/collections' => "SELECT row, source, destination FROM Collection row $both ORDER BY row.id",
    default => "SELECT row, event, connection FROM Webhook row LEFT JOIN row.events event
        LEFT JOIN row.connections connection ORDER BY $webhookOrder",
};
$pageNo = max(1, (int) ($_GET['pageNo'] ?? 1));
$pageSize = min(100, (int) ($_GET['pageSize'] ?? 50));
$page = new Paginator($manager->createQuery($query)->setFirstResult(($pageNo - 1) * $pageSize)->setMaxResults($pageSize));
$total = count($page);
header('Content-Type: application/json');
echo json_encode([
    'items' => array_map(fn ($row) => $row->item(), iterator_to_array($page)),
    'pagination' => [
        'pageCount' => (int) ceil($total / $pageSize),
        'pageNo' => $pageNo,
        'pageSize' => $pageSize,
        'totalRecordCount' => $total,
    ],
]);
