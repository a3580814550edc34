CREATE TABLE `service_facts` (
	`resource` text NOT NULL,
	`fact` text NOT NULL,
	`value` text NOT NULL,
	`previous_value` text,
	`changed_run_id` integer,
	`first_seen_run_id` integer NOT NULL,
	`last_seen_run_id` integer NOT NULL,
	`evidence` text NOT NULL,
	PRIMARY KEY(`resource`, `fact`)
) STRICT;
