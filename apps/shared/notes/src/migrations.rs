//! Versions of a store's tables.

use rusqlite::{Connection, TransactionBehavior};

/// Brings the tables of a store to the newest version, in one transaction. `steps` has the
/// statements that make each version from the one before: version 1 is made by the first.
///
/// `application_id` marks the files of an app for other programs, 0 marks none; a file that has
/// another mark counts as one without tables.
///
/// # Errors
/// A statement fails, or the store can't be written: it is then as it was.
pub fn migrate(
    connection: &mut Connection,
    application_id: i64,
    steps: &[&str],
) -> rusqlite::Result<()> {
    if version(connection, application_id)? >= steps.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated the store while this one waited for the lock.
    let version = version(&transaction, application_id)?;
    for step in steps.iter().skip(version) {
        transaction.execute_batch(step)?;
    }
    transaction.execute_batch(&format!(
        "PRAGMA application_id = {application_id}; PRAGMA user_version = {}",
        version.max(steps.len()),
    ))?;
    transaction.commit()
}

/// Returns the version of a store's tables; 0 if it has none with this mark.
///
/// # Errors
/// The store can't be read.
pub fn version(connection: &Connection, application_id: i64) -> rusqlite::Result<usize> {
    let number = |pragma: &str| {
        connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0))
    };
    match number("application_id")? == application_id {
        true => Ok(usize::try_from(number("user_version")?).unwrap_or(usize::MAX)),
        false => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_carried_out_once_and_all_or_none() {
        let mut store = Connection::open_in_memory().unwrap();
        let steps = ["CREATE TABLE a (x)", "INSERT INTO a VALUES (2)", "INSERT INTO a VALUES (3)"];
        let sum = |store: &Connection| {
            store.query_row("SELECT coalesce(sum(x), 0) FROM a", [], |row| row.get::<_, i64>(0))
        };
        migrate(&mut store, 7, &steps[..2]).unwrap();
        assert_eq!((version(&store, 7), version(&store, 8)), (Ok(2), Ok(0)));
        migrate(&mut store, 7, &steps).unwrap();
        migrate(&mut store, 7, &steps).unwrap();
        // An older program leaves a newer store as it is.
        migrate(&mut store, 7, &steps[..1]).unwrap();
        assert_eq!((version(&store, 7), sum(&store)), (Ok(3), Ok(5)));
        let broken = [&steps[..], &["INSERT INTO a VALUES (4)", "no statement"]].concat();
        assert!(migrate(&mut store, 7, &broken).is_err());
        assert_eq!((version(&store, 7), sum(&store)), (Ok(3), Ok(5)));
    }
}
