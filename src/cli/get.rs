//! `psos get`: one record by its id.

use std::process::ExitCode;

use psos::record::{Origin, RecordId, Tier};

use crate::cli::args::GetArgs;
use crate::cli::failure::Failure;
use crate::cli::output::{failure, ids, json, list, object, open, print, push};
use crate::cli::{Done, NOTHING};

pub(crate) fn run(args: &GetArgs) -> Done {
    let engine = open(&args.store)?;
    let whole = RecordId::from_text(&args.id);
    let in_store = |error| failure(error, engine.dir());
    // `ID:tier`, unless a record is really called that.
    let suffixed = args.id.rsplit_once(':').and_then(|(id, name)| Some((id, Tier::parse(name)?)));
    let (id, tier) = match suffixed {
        Some((id, tier)) if args.tier.is_none() && !engine.has(&whole).map_err(in_store)? => {
            (RecordId::from_text(id), tier)
        }
        _ => (whole, args.tier.map_or(Tier::Detail, Tier::from)),
    };
    if args.lines.is_some() && tier != Tier::Detail {
        return Err(Failure::usage(format!(
            "--lines picks lines of the detail, not of the {}",
            tier.name()
        )));
    }
    let Some(piece) = engine.get(&id, tier, args.lines).map_err(in_store)? else {
        let near = engine.similar_ids(&id).map_err(in_store)?;
        let mut text = format!("no record has the id {id}\n");
        if !near.is_empty() {
            text.push_str("\nhint: did you mean one of these?\n");
            for id in near {
                push(&mut text, format_args!("  {id}\n"));
            }
        }
        crate::cli::output::tell(&format!("error: {text}"));
        return Ok(ExitCode::from(NOTHING));
    };
    if args.json {
        let object = object([
            ("schema_version", json(1)),
            ("id", json(piece.id.as_str())),
            ("path", json(piece.path)),
            ("lines", list([json(piece.lines.first), json(piece.lines.last)])),
            ("kind", json(piece.kind.name())),
            ("title", json(piece.title)),
            ("breadcrumb", list(piece.breadcrumb.into_iter().map(json))),
            ("tier", json(piece.tier.name())),
            ("origin", json(piece.origin.map(Origin::name))),
            ("text", json(piece.text)),
            ("source", json(piece.source.name())),
            ("children", ids(&piece.children)),
        ]);
        print(&format!("{object}\n"))?;
    } else {
        print(&format!("{}\n", piece.text))?;
    }
    Ok(ExitCode::SUCCESS)
}
