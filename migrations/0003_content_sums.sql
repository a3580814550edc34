CREATE TABLE `_content_sums` (
	`table_name` text NOT NULL,
	`resource` text NOT NULL,
	`record_count` integer NOT NULL,
	`digest` text NOT NULL,
	PRIMARY KEY(`table_name`, `resource`)
) STRICT;
--> statement-breakpoint
ALTER TABLE `connections` ADD `_fingerprint` blob;--> statement-breakpoint
ALTER TABLE `record_history` ADD `_fingerprint` blob;