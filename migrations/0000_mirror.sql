CREATE TABLE `collections` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text,
	`source_connection_id` integer,
	`destination_connection_id` integer,
	`_first_seen_run_id` integer NOT NULL,
	`_changed_run_id` integer NOT NULL,
	`_extra` text,
	`_content` blob NOT NULL,
	FOREIGN KEY (`source_connection_id`) REFERENCES `connections`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`destination_connection_id`) REFERENCES `connections`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `collections_source_connection_id` ON `collections` (`source_connection_id`);--> statement-breakpoint
CREATE INDEX `collections_destination_connection_id` ON `collections` (`destination_connection_id`);--> statement-breakpoint
CREATE INDEX `collections_changed_run_id` ON `collections` (`_changed_run_id`);--> statement-breakpoint
CREATE TABLE `_connection_names` (
	`resource` text NOT NULL,
	`connection_id` integer NOT NULL,
	`name` text,
	`_extra` text,
	`named_at` text,
	PRIMARY KEY(`resource`, `connection_id`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `connections` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text,
	`_first_seen_run_id` integer NOT NULL,
	`_changed_run_id` integer NOT NULL,
	`_extra` text,
	`_content` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `connections_changed_run_id` ON `connections` (`_changed_run_id`);--> statement-breakpoint
CREATE TABLE `document_exports` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`source_connection_id` integer,
	`source_document_title` text,
	`source_document_reference` text,
	`source_document_version` text,
	`source_document_kind` text,
	`destination_connection_id` integer,
	`destination_reference` text,
	`exported_at` text,
	`_first_seen_run_id` integer NOT NULL,
	`_changed_run_id` integer NOT NULL,
	`_extra` text,
	`_content` blob NOT NULL,
	FOREIGN KEY (`source_connection_id`) REFERENCES `connections`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`destination_connection_id`) REFERENCES `connections`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `document_exports_source_connection_id` ON `document_exports` (`source_connection_id`);--> statement-breakpoint
CREATE INDEX `document_exports_destination_connection_id` ON `document_exports` (`destination_connection_id`);--> statement-breakpoint
CREATE INDEX `document_exports_exported_at` ON `document_exports` (`exported_at`,`_content`,`source_connection_id`,`destination_connection_id`,`source_document_kind`);--> statement-breakpoint
CREATE INDEX `document_exports_changed_run_id` ON `document_exports` (`_changed_run_id`);--> statement-breakpoint
CREATE TABLE `_list_states` (
	`resource` text PRIMARY KEY NOT NULL,
	`run_id` integer NOT NULL,
	`state` text NOT NULL,
	`check` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `_mirror` (
	`mirror_id` text PRIMARY KEY NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `_pages` (
	`resource` text NOT NULL,
	`page_size` integer NOT NULL,
	`page_index` integer NOT NULL,
	`used_at` text NOT NULL,
	`digest` blob,
	`summary` text,
	`check` blob NOT NULL,
	PRIMARY KEY(`resource`, `page_size`, `page_index`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `record_history` (
	`id` integer PRIMARY KEY NOT NULL,
	`resource` text NOT NULL,
	`record_id` integer NOT NULL,
	`first_seen_run_id` integer NOT NULL,
	`valid_from_run_id` integer NOT NULL,
	`valid_to_run_id` integer NOT NULL,
	`ended_by` text NOT NULL,
	`record` text,
	`content` blob NOT NULL,
	FOREIGN KEY (`valid_to_run_id`) REFERENCES `sync_runs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `record_history_record` ON `record_history` (`resource`,`record_id`,`valid_from_run_id`);--> statement-breakpoint
CREATE INDEX `record_history_valid_from_run_id` ON `record_history` (`valid_from_run_id`);--> statement-breakpoint
CREATE INDEX `record_history_valid_to_run_id` ON `record_history` (`valid_to_run_id`);--> statement-breakpoint
CREATE TABLE `rejected_records` (
	`id` integer PRIMARY KEY NOT NULL,
	`run_id` integer NOT NULL,
	`last_run_id` integer NOT NULL,
	`resource` text NOT NULL,
	`page_no` integer NOT NULL,
	`position` integer NOT NULL,
	`reason` text NOT NULL,
	`record` text,
	`content` blob NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `sync_runs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `rejected_records_run_id` ON `rejected_records` (`run_id`);--> statement-breakpoint
CREATE INDEX `rejected_records_last_run_id` ON `rejected_records` (`last_run_id`);--> statement-breakpoint
CREATE TABLE `sync_receipts` (
	`leaf_index` integer PRIMARY KEY NOT NULL,
	`run_id` integer,
	`receipt` text NOT NULL,
	`leaf_hash` text NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `sync_runs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sync_receipts_run_id` ON `sync_receipts` (`run_id`);--> statement-breakpoint
CREATE TABLE `sync_run_resources` (
	`run_id` integer NOT NULL,
	`resource` text NOT NULL,
	`status` text NOT NULL,
	`mode` text,
	`completeness` text,
	`first_page_no` integer,
	`page_size` integer,
	`page_count` integer,
	`total_record_count` integer,
	`records_seen` integer DEFAULT 0 NOT NULL,
	`inserted` integer DEFAULT 0 NOT NULL,
	`updated` integer DEFAULT 0 NOT NULL,
	`removed` integer DEFAULT 0 NOT NULL,
	`unchanged` integer DEFAULT 0 NOT NULL,
	`rejected` integer DEFAULT 0 NOT NULL,
	`removals_withheld` integer DEFAULT 0 NOT NULL,
	`undecided` integer DEFAULT 0 NOT NULL,
	`walks` integer DEFAULT 0 NOT NULL,
	`requests` integer DEFAULT 0 NOT NULL,
	`retries` integer DEFAULT 0 NOT NULL,
	`bytes` integer DEFAULT 0 NOT NULL,
	`waited_ms` integer DEFAULT 0 NOT NULL,
	`started_at` text NOT NULL,
	`completed_at` text,
	`error` text GENERATED ALWAYS AS (case when error_code is not null then json_object('code', error_code, 'message', error_message) end) VIRTUAL,
	`error_code` text,
	`error_message` text,
	`reason` text,
	`record_count` integer,
	`checksum` text,
	PRIMARY KEY(`run_id`, `resource`),
	FOREIGN KEY (`run_id`) REFERENCES `sync_runs`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `sync_run_resources_resource` ON `sync_run_resources` (`resource`,`status`,`run_id`);--> statement-breakpoint
CREATE TABLE `sync_runs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`status` text NOT NULL,
	`trigger` text NOT NULL,
	`started_at` text NOT NULL,
	`completed_at` text,
	`error_code` text,
	`error_message` text,
	`docmirror_version` text NOT NULL,
	`base_url` text NOT NULL,
	`_actor` text,
	`labels` text
) STRICT;
--> statement-breakpoint
CREATE TABLE `unknown_fields` (
	`resource` text NOT NULL,
	`field` text NOT NULL,
	`json_type` text NOT NULL,
	`first_seen_run_id` integer NOT NULL,
	`last_seen_run_id` integer NOT NULL,
	`record_count` integer,
	PRIMARY KEY(`resource`, `field`, `json_type`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `webhook_connections` (
	`webhook_id` integer NOT NULL,
	`position` integer NOT NULL,
	`connection_id` integer,
	PRIMARY KEY(`webhook_id`, `position`),
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`connection_id`) REFERENCES `connections`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhook_connections_connection_id` ON `webhook_connections` (`connection_id`);--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`webhook_id` integer NOT NULL,
	`position` integer NOT NULL,
	`event` text NOT NULL,
	PRIMARY KEY(`webhook_id`, `position`),
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE cascade
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhook_events_event` ON `webhook_events` (`event`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` integer PRIMARY KEY NOT NULL,
	`endpoint` text,
	`description` text,
	`_first_seen_run_id` integer NOT NULL,
	`_changed_run_id` integer NOT NULL,
	`_extra` text,
	`_content` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhooks_changed_run_id` ON `webhooks` (`_changed_run_id`);