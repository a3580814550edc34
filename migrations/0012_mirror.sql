CREATE TABLE `_known_pages` (
	`resource` text NOT NULL,
	`digest` blob NOT NULL,
	`run_id` integer NOT NULL,
	`rows` text NOT NULL,
	`said` blob NOT NULL,
	`pieces` blob,
	`check` blob NOT NULL,
	PRIMARY KEY(`resource`, `digest`)
) STRICT;
