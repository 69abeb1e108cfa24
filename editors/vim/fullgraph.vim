" fullgraph in Vim 8.2 or newer, without a language client. Copy this file to ~/.vim/plugin/.
"
" :FullgraphAt       shows the findings at the cursor and applies the one that you choose
" :FullgraphFile     puts the findings of the file into the quickfix list
"
" The buffer counts, saved or not, and nothing is written: what a fix changes in other files is in their buffers.

if exists('g:loaded_fullgraph')
  finish
endif
let g:loaded_fullgraph = 1

command! FullgraphAt call s:At()
command! FullgraphFile call s:File()

function! s:Buffer() abort
  let l:break = &fileformat ==# 'dos' ? "\r\n" : &fileformat ==# 'mac' ? "\r" : "\n"
  let l:text = join(getline(1, '$'), l:break) . (&endofline || &fixendofline ? l:break : '')
  return empty(&fileencoding) ? l:text : iconv(l:text, &encoding, &fileencoding)
endfunction

function! s:Ask(place, options) abort
  let l:words = [get(g:, 'fullgraph_command', 'fullgraph'), 'at', a:place, '--stdin', '--json'] + a:options
  let l:said = system(join(map(l:words, 'shellescape(v:val)'), ' '), s:Buffer())
  try
    let l:answer = json_decode(l:said)
  catch
    let l:answer = {'error': get(split(l:said, "\n"), -1, 'it said nothing'), 'findings': []}
  endtry
  if !empty(l:answer.error)
    echohl ErrorMsg | echomsg 'fullgraph: ' . l:answer.error | echohl None
  endif
  return l:answer
endfunction

function! s:At() abort
  let l:place = expand('%:p') . ':' . line('.') . ':' . charcol('.')
  let l:findings = filter(s:Ask(l:place, []).findings, '!empty(v:val.edits)')
  if empty(l:findings)
    echo 'fullgraph: nothing to fix here'
    return
  endif
  let l:lines = map(copy(l:findings), '(v:key + 1) . ". " . v:val.codemod . ": " . v:val.message . s:Unsafe(v:val)')
  let l:choice = inputlist(['Apply which?'] + l:lines)
  if l:choice >= 1 && l:choice <= len(l:findings)
    call s:Show(get(s:Ask(expand('%:p'), ['--apply', l:findings[l:choice - 1].key]), 'files', []))
  endif
endfunction

function! s:Unsafe(finding) abort
  return a:finding.safety ==# 'unsafe' ? ' (unsafe: ' . a:finding.caveat . ')' : ''
endfunction

" Puts new texts into buffers; only lines that differ are touched, so that marks and the cursor stay.
function! s:Show(files) abort
  for l:file in a:files
    let l:buffer = bufadd(l:file.file)
    call bufload(l:buffer)
    call setbufvar(l:buffer, '&buflisted', 1)
    let l:lines = split(substitute(l:file.text, "\\%uFEFF\\|\r\\?\n$", '', 'g'), "\r\\?\n\\|\r", 1)
    let l:old = getbufline(l:buffer, 1, '$')
    let l:head = 0
    while l:head < min([len(l:old), len(l:lines)]) && l:old[l:head] ==# l:lines[l:head]
      let l:head += 1
    endwhile
    let l:tail = 0
    while l:tail < min([len(l:old), len(l:lines)]) - l:head && l:old[-1 - l:tail] ==# l:lines[-1 - l:tail]
      let l:tail += 1
    endwhile
    call appendbufline(l:buffer, len(l:old) - l:tail, l:lines[l:head : len(l:lines) - l:tail - 1])
    if len(l:old) - l:tail > l:head
      call deletebufline(l:buffer, l:head + 1, len(l:old) - l:tail)
    endif
  endfor
endfunction

function! s:File() abort
  let l:items = []
  for l:finding in s:Ask(expand('%:p'), []).findings
    let l:text = l:finding.codemod . ': ' . l:finding.message
    let l:column = byteidx(getline(l:finding.start.line), l:finding.start.column - 1) + 1
    call add(l:items, {'bufnr': bufnr('%'), 'lnum': l:finding.start.line, 'col': l:column, 'text': l:text})
  endfor
  call setqflist(l:items)
  call setqflist([], 'a', {'title': 'fullgraph'})
endfunction
