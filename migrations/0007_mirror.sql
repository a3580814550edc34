CREATE TABLE `accepted_findings` (
	`id` integer PRIMARY KEY NOT NULL,
	`resource` text NOT NULL,
	`code` text NOT NULL,
	`rejected_record_id` integer,
	`at_most` integer,
	`until` text,
	`why` text,
	`actor` text NOT NULL,
	`accepted_at` text NOT NULL,
	`withdrawn_at` text,
	`withdrawn_by` text,
	`withdrawn_why` text
) STRICT;
