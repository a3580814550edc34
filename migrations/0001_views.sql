-- The views of 0.1.0 stood here. They are made from src/store/tables/views.ts, in a new mirror and at each upgrade.
SELECT 1;
